# The tamis command in a small image that is not root: routers, clients and tools alike. docs/how-to/compose.md has the ways to run it.
#
#   docker build -t tamis .
#
# Without a network, or for a chosen set of packages, `make wheels` fills the folder wheels/, and nothing is downloaded.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN python3 -m venv /pip && python3 -m venv --without-pip /opt/tamis
RUN set -e; \
    if ls wheels/tamis-*.whl >/dev/null 2>&1; then exit 0; fi; \
    command -v cc >/dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends gcc libc6-dev; }; \
    /pip/bin/pip wheel -q --no-deps -w wheels .
# Another set: --build-arg EXTRAS=router,analysis
ARG EXTRAS=router
RUN set -e; \
    wheel=$(ls wheels/tamis-*.whl); others=$(ls wheels/*.whl | grep -v "$wheel" || true); \
    /pip/bin/pip --python /opt/tamis/bin/python install -q --disable-pip-version-check --no-cache-dir \
        ${others:+--no-index --find-links wheels} -c constraints.txt "$wheel[$EXTRAS]"

FROM ${BASE}
# The folders may be written by any user, as a container may be started with another: each makes its own inside.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin tamis \
    && install -d -m 1777 /var/lib/tamis /var/log/tamis /var/spool/tamis
COPY --from=build /opt/tamis /opt/tamis
ENV PATH=/opt/tamis/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
# Of a router, by its administration page; what is no router turns it off.
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 CMD ["tamis", "status"]
ENTRYPOINT ["tamis"]
CMD ["--help"]

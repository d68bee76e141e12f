"""The life of one router: startup, serve, drain, stop.

Law: the router reports that it is ready only when it listens. The first SIGTERM or SIGINT redirects the clients that
have another router to go to, serves them until they have gone, and then drains (clients are notified, new connections
and messages are refused, queues are flushed, other routers route around this one) until nothing is left or the deadline
has passed; the second ends the process at once. SIGHUP reloads the settings: either all changes that a reload allows
take effect, or none does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tamis.configs.address import Address
from tamis.configs.sections.records import RecordSettings
from tamis.configs.settings import RouterSettings
from tamis.native.results import OutOfMemory
from tamis.protocol.access.rules import AccessRules
from tamis.protocol.errors import ConfigError, Refused
from tamis.router.access.audit import AuditLog
from tamis.router.access.in_force import AccessInForce
from tamis.router.access.proofs import Proofs
from tamis.router.admin.view import RouterLife, RouterView
from tamis.router.clients.clients import Clients
from tamis.router.connections.admissions import Side
from tamis.router.connections.certificate_watch import CertificateWatch
from tamis.router.connections.connections import Connections
from tamis.router.connections.limits import ConnectionLimits, fitted, open_descriptors, places_of
from tamis.router.connections.peer import FULL, LINGER_S
from tamis.router.connections.seconds import SecondTicker
from tamis.router.connections.tls import certified_names, shown_certificate, tls_acceptor
from tamis.router.daemon import fault_injection, journal, logs, notify
from tamis.router.daemon.epoch import Epoch
from tamis.router.daemon.events import LifeChanged, SecondPassed
from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.daemon.logs import fields
from tamis.router.daemon.settings import keep_unmatched_of
from tamis.router.daemon.settings_file import load_settings, restart_keys
from tamis.router.daemon.stalls import StallWatch
from tamis.router.daemon.start import Credentials, certificates, credentials
from tamis.router.durable.begin import start_durables
from tamis.router.records.recorder import Recorder
from tamis.router.records.seconds import SecondRecords
from tamis.serving.cannot_start import CannotStart, CannotStartNow
from tamis.serving.handshakes import TlsAcceptor
from tamis.serving.listeners import Acceptor, Listener, ReserveDescriptor, bind

if TYPE_CHECKING:  # a router without links, durable subscriptions or issuers starts without them
    from tamis.router.access.signed_tokens import SignedTokens
    from tamis.router.durable.service import DurableService
    from tamis.router.links.joined import JoinedNetwork
    from tamis.router.links.neighbours import Neighbours

QUIET_TICKS: Final = 3
"""The consecutive ticks without pending data after which a drain is complete: data in transit at the first of them has
arrived."""

GC_THRESHOLDS: Final = 20_000, 5, 100
"""Thresholds of the garbage collector. A full collection walks each filter of the network, and holds the loop for a
tenth of a second at 100,000 of them. Nearly all objects are freed without one: it runs only after about ten million
more objects were made than freed."""

LISTENERS_DESCRIPTORS: Final = 8
"""Descriptors: the switch's own, those of the loop's threads, and one for each listening address."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DaemonOptions:
    """The options of the command line."""

    file: str
    router_id: str
    is_insecure: bool = False
    json_logs: bool = False


class Daemon:
    """One router process. CannotStart or ConfigError if it cannot start."""

    def __init__(self, options: DaemonOptions) -> None:
        self._options = options
        warnings: list[str] = []
        self._settings = self._started_with = load_settings(options.file, options.router_id, warnings.append)
        self._configure_logs(self._settings)
        for line in warnings:
            _log.warning(line)
        self._held = credentials(self._settings, options.is_insecure)
        self._doors: list[Callable[[], object]] = []  # functions that close the listeners for clients
        self._tls_doors: list[TlsAcceptor] = []  # for clients
        self._link_tls_doors: list[TlsAcceptor] = []
        self._link_doors: list[Callable[[], object]] = []  # functions that stop the making of new links
        self._closers: list[Callable[[], object]] = []
        self._stop_asked = 0
        self._asked = asyncio.Event()
        self._reloading: list[asyncio.Task[None]] = []
        self._reload_lock = asyncio.Lock()
        self._running: RouterView

    async def run(self) -> int:
        """Serve until a signal to stop; return the exit code."""
        try:
            await self._start()
            await self._serve()
            return await self._drain()
        finally:
            self._stop()

    # --- startup ---------------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._places = _places(self._settings)
        loop.set_exception_handler(self._failed_in_loop)
        epoch = Epoch(self._settings.data)
        connections = Connections(self._settings, epoch.next(), loop, self._places)
        journal.listen(connections.events)
        clients = Clients(connections, self._held.tokens, self._access(connections))
        if clients.access is not None:
            clients.proofs = Proofs(clients.access.rules, self._held.signed)
        clients.use_revoked(self._held.revoked)
        self._closers.append(clients.verifying.close)
        self._spare = ReserveDescriptor()
        self._closers.append(self._spare.close)
        fault_injection.plant(connections.switch)
        self._running = RouterView(
            connections,
            clients,
            StallWatch(loop),
            self._watch_certificates(connections),
            admin_token=self._held.admin_token,
        )
        if self._settings.records is not None:
            self._record(self._settings.records)
        network = self._running.network = self._join(clients, epoch) if self._settings.links else None
        durables = start_durables(clients, self._durables)
        if durables is not None:
            self._closers.append(durables.close_log)  # after the switch, which appends to it
        self._closers.append(connections.close)
        if durables is not None:
            self._closers.append(durables.close_replays)
        for address in self._settings.clients:
            await self._listen_for_clients(address)
        if network is not None:
            await self._listen_to_network(network)
        if self._settings.admin:
            await self._listen_for_admin(self._settings.admin)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop_signal)
        loop.add_signal_handler(signal.SIGHUP, self._reload_signal)
        connections.start()
        connections.network.start()
        seconds = SecondTicker(connections)
        seconds.start()
        self._closers.append(seconds.stop)
        gc.collect()
        gc.freeze()  # no collection walks the present objects, which stay
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()
        self._running.stalls.start()  # only now, as the start itself holds the loop
        self._closers.append(self._running.stalls.stop)

    def _failed_in_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report an exception of a function called by the loop; errors of sockets go to the loop's own handler."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self._running.connections.health.caught(str(context.get("message", "a callback of the loop failed")), error)
        else:
            loop.default_exception_handler(context)

    def _record(self, chosen: RecordSettings) -> None:
        connections, running = self._running.connections, self._running
        recorder = running.recorder = Recorder(self._settings, chosen, connections.epoch, connections.work.add)
        self._closers.append(recorder.close)  # closed after the connections
        recorder.listen(connections.events)
        SecondRecords(running.clients, recorder, running.stalls).listen(connections.events)
        connections.switch.record(recorder.messages)
        recorder.start()

    def _access(self, connections: Connections) -> AccessInForce | None:
        """Return the rules in force; None if the network has none."""
        rules, data = self._settings.access, self._settings.data
        if rules is None:
            return None
        access = AccessInForce(connections.switch, rules, self._settings.limits.frame_bytes)
        connections.events.listen(SecondPassed, lambda _: access.rates.second_passed())
        if rules.audits and data is not None:
            self._audit(access, connections, str(Path(data) / "audit"))
        return access

    def _audit(self, access: AccessInForce, connections: Connections, folder: str) -> None:
        """Write what the rules decide into `folder`."""
        audit = AuditLog(folder, connections.health.alarm)
        self._closers.append(audit.close)
        access.note = audit.note
        access.note_rules()
        connections.events.listen(SecondPassed, lambda _: audit.second_passed())

    def _watch_certificates(self, connections: Connections) -> CertificateWatch:
        watch = CertificateWatch(connections.health)
        self._watch(watch, self._settings, self._held)
        connections.events.listen(SecondPassed, lambda _: watch.look())
        return watch

    @staticmethod
    def _watch(watch: CertificateWatch, settings: RouterSettings, held: Credentials) -> None:
        """Watch the certificates and lists that have just been loaded."""
        for key, tls in certificates(settings):
            watch.use(key, tls.certificate)
        watch.use_lists("tls", held.revoked)
        watch.use_lists("neighbour_tls", held.links.revoked if held.links is not None else None)

    def _durables(self, service: DurableService) -> None:
        """Set the service of durable subscriptions, at the start or at the first request of a client. The network
        exists by then; the service passes its interest to it."""
        self._running.durable = service
        if self._running.network is not None:
            service.begin_in_network(self._running.network.noticed_within_ms)

    async def _listen_for_clients(self, address: Address) -> None:
        connections, clients, loop = self._running.connections, self._running.clients, asyncio.get_running_loop()
        for listener in bind(address):
            if self._held.tls is not None and listener.address.kind == "tcp":
                door = tls_acceptor(
                    connections,
                    Side.CLIENT,
                    clients,
                    self._held.tls,
                    lambda behind: clients.open(
                        *(-1, behind.peer, certified_names(behind.transport), shown_certificate(behind.transport))
                    ),
                )
                self._tls_doors.append(door)
                self._doors.append(Acceptor(listener, door, loop, b"", self._spare).close)
                self._note("clients", "tamis+tls://", listener)
            else:
                self._doors.append(Acceptor(listener, clients, loop, FULL, self._spare).close)
                self._note("clients", "tamis://", listener)

    def _join(self, clients: Clients, epoch: Epoch) -> JoinedNetwork:
        """Return the network of this router; no neighbour is dialled yet."""
        from tamis.router.links.joined import JoinedNetwork
        from tamis.router.remote.ends import RemoteEnds

        network = JoinedNetwork(clients.connections, clients, self._settings, epoch, self._held.links)
        clients.join(network)
        RemoteEnds(clients)
        return network

    async def _listen_to_network(self, network: JoinedNetwork) -> None:
        self._closers.append(network.close)
        self._link_doors.append(network.stop_dialling)
        for address in self._settings.neighbours:
            await self._listen_for_neighbours(address, network.neighbours)

    async def _listen_for_neighbours(self, address: Address, neighbours: Neighbours) -> None:
        tls, connections = self._held.links, self._running.connections
        for listener in bind(address):
            if tls is not None and listener.address.kind == "tcp":
                door = tls_acceptor(connections, Side.NEIGHBOUR, neighbours, tls.accepting, neighbours.open_tls)
                self._link_tls_doors.append(door)
                self._link_doors.append(Acceptor(listener, door, connections.loop, b"", self._spare).close)
                self._note("neighbours", "tamis+tls://", listener)
            else:
                self._link_doors.append(Acceptor(listener, neighbours, connections.loop, FULL, self._spare).close)
                self._note("neighbours", "tamis://", listener)

    async def _listen_for_admin(self, address: Address) -> None:
        from tamis.router.admin.server import AdminServer

        for listener in bind(address):
            server = AdminServer(self._running)
            server.start(listener, self._spare)
            self._closers.append(server.close)
            self._note("admin", "http://", listener)

    def _note(self, purpose: str, scheme: str, listener: Listener[Address]) -> None:
        """Record an address in the form that commands accept."""
        address = listener.address
        if address.kind == "unix":
            whole = Path(address.path).absolute()
            shown = f"tamis+unix:{whole}" if purpose == "clients" else f"unix:{whole}"
        else:
            shown = f"{scheme}{address}"
        self._running.listening.setdefault(purpose, []).append(shown)

    # --- serve -----------------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        self._enter(RouterLife.SERVING, "ready")
        self._say_ready()
        notify.ready()
        await self._asked.wait()

    def _enter(self, life: RouterLife, recorded: str) -> None:
        self._running.life = life
        self._running.connections.events.tell(LifeChanged, recorded)

    def _say_ready(self) -> None:
        running, router_id = self._running, self._settings.id
        if self._options.json_logs:
            line = json.dumps({"ready": True, "router": router_id, "pid": os.getpid(), **running.listening})
        else:
            where = (f"{purpose} {' '.join(shown)}" for purpose, shown in running.listening.items())
            line = f"router {router_id} is ready: {', '.join(where) or 'it does not listen'}"
        print(line, flush=True)
        _log.info("ready", extra=fields(router=router_id, pid=os.getpid(), **running.listening))

    def _stop_signal(self) -> None:
        self._stop_asked += 1
        self._asked.set()

    def _reload_signal(self) -> None:
        self._reloading.append(asyncio.get_running_loop().create_task(self._reload()))

    async def _reload(self) -> None:
        """Reload the settings, after SIGHUP. Reading a large file takes a while, and is done beside the loop."""
        async with self._reload_lock:
            notify.reloading()
            try:
                self._take(*await asyncio.to_thread(self._read_again))
                self._running.settings_refused = ""
            except (ConfigError, CannotStart) as error:
                self._running.settings_refused = str(error)
                if stays := self._settings.what_refuses:
                    self._running.connections.health.alarm(f"{stays} are those of before: {error}")
                _log.error("the changed settings are not used", extra=fields(reason=str(error)))
            notify.ready()
            self._say_reloaded()
        self._reloading = [task for task in self._reloading if task is not asyncio.current_task()]

    def _say_reloaded(self) -> None:
        """Report the result of a reload to a supervisor, which reads the standard output."""
        running = self._running
        said = {"reloaded": not running.settings_refused, "need_a_restart": running.need_a_restart}
        if self._options.json_logs:
            with contextlib.suppress(OSError):  # the supervisor has ended
                print(json.dumps(said | {"reason": running.settings_refused}), flush=True)

    def _read_again(self) -> tuple[RouterSettings, Credentials]:
        new = load_settings(self._options.file, self._options.router_id)
        return new, credentials(new, self._options.is_insecure)

    def _take(self, new: RouterSettings, held: Credentials) -> None:
        take_spaces = self._planned_spaces(new)
        keys = self._running.need_a_restart = restart_keys(self._started_with, new)
        new = replace(new, durable=self._started_with.durable)
        connections, clients = self._running.connections, self._running.clients
        if new.access is not None and clients.access is not None:
            self._enforce(new.access, held.signed)
            if self._running.network is not None:
                self._running.network.use_rules(new.access)
        self._use_tls(held)
        self._watch(self._running.certificates, new, held)
        take_spaces()
        if new.unmatched != self._settings.unmatched:
            keep_unmatched_of(connections.switch, new)
        connections.settings, self._settings = new, new
        if new.has_access is self._started_with.has_access:  # otherwise clients prove themselves as before the reload
            clients.tokens = held.tokens
            clients.hold_against_tokens()
        self._running.admin_token = held.admin_token
        self._configure_logs(new)
        _log.info("settings reloaded", extra=fields(need_a_restart=keys) if keys else None)

    def _use_tls(self, held: Credentials) -> None:
        """Use the certificates, roots and lists of `held` from the next handshake on, and end the connections whose
        certificate its lists refuse."""
        if held.tls is not None:
            for door in self._tls_doors:
                door.context = held.tls
            self._running.clients.use_revoked(held.revoked)
        network = self._running.network
        if held.links is not None and network is not None:
            for door in self._link_tls_doors:
                door.context = held.links.accepting
            network.neighbours.use_tls(held.links)

    def _enforce(self, rules: AccessRules, signed: SignedTokens | None) -> None:
        try:
            self._running.clients.change_access(rules, signed)
        except (OutOfMemory, Refused) as error:
            raise CannotStart(f"access: these rules cannot be enforced: {error}") from None

    def _planned_spaces(self, new: RouterSettings) -> Callable[[], None]:
        try:
            return self._running.connections.spaces.plan_reload(new.spaces)
        except Refused as error:
            raise CannotStart(
                f"{error}; to make such a change, use `tamis space put` or `tamis space drop` with --force"
            ) from None

    def _configure_logs(self, settings: RouterSettings) -> None:
        logs.configure(settings.logging.level, "json" if self._options.json_logs else settings.logging.format)

    # --- drain and stop --------------------------------------------------------------------------------------------

    async def _send_away(self) -> None:
        """Redirect the clients that have another router to go to, and serve them until they have gone, for
        `limits.handover_ms` at most; other clients notice nothing."""
        connections, clients, limit_ms = (
            self._running.connections,
            self._running.clients,
            self._settings.limits.handover_ms,
        )
        connections.is_leaving = True
        movers = clients.movers if limit_ms else 0
        if movers:
            _log.info("redirecting clients", extra=fields(clients=movers, deadline_ms=limit_ms))
            clients.send_away(limit_ms)
            await self._until(lambda: not clients.movers, 1, time.monotonic() + limit_ms / 1000)

    async def _drain(self) -> int:
        """Drain, and return the exit code: 0 if all queues were flushed. Other routers route around this one before its
        links close."""
        connections, clients = self._running.connections, self._running.clients
        self._enter(RouterLife.DRAINING, "stopping")
        notify.stopping()
        self._close(self._doors)
        await self._send_away()
        self._close(self._link_doors)
        _log.info("draining", extra=fields(clients=len(clients.names), deadline_ms=self._settings.limits.drain_ms))
        connections.network.leave()
        connections.drain()
        deadline_s = time.monotonic() + self._settings.limits.drain_ms / 1000
        is_flushed = await self._until(lambda: connections.is_flushed, QUIET_TICKS, deadline_s)
        clients.dismiss()
        if connections.network.links:
            is_flushed &= await self._until(connections.network.is_left, QUIET_TICKS, deadline_s)
        connections.dismiss()
        is_empty = await self._until(lambda: connections.is_empty, 1, max(deadline_s, time.monotonic() + LINGER_S))
        _log.info("stopped", extra=fields(flushed=is_flushed, clients_left=len(clients.by_connection)))
        return 0 if is_flushed and is_empty else 1

    async def _until(self, is_so: Callable[[], bool], ticks: int, deadline_s: float) -> bool:
        """Wait until `is_so` was true at `ticks` consecutive ticks; False at the deadline or at a second signal."""
        seen = 0
        while seen < ticks and time.monotonic() < deadline_s and self._stop_asked < 2:
            await self._running.connections.next_tick()
            seen = seen + 1 if is_so() else 0
        return seen >= ticks

    def _stop(self) -> None:
        self._close(self._doors)
        self._close(self._link_doors)
        self._close(self._closers)

    @staticmethod
    def _close(closers: list[Callable[[], object]]) -> None:
        while closers:
            closers.pop()()


def serve(options: DaemonOptions) -> int:
    """Run one router in the foreground; return the exit code. It is CANNOT_START if the file, or a file that it names,
    prevents a start: a port that is in use may be free later, a missing certificate may not."""
    try:
        daemon = Daemon(options)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(daemon.run())
    except (ConfigError, CannotStart) as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, CannotStartNow) else CANNOT_START


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ModuleNotFoundError:
        _log.warning("uvloop is not installed: the slower loop of asyncio is used")
        return None
    return uvloop.new_event_loop


def _places(settings: RouterSettings) -> ConnectionLimits:
    """Return the configured limits of connections, reduced to the descriptors that the system has: each connection
    takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wanted = places_of(settings)
    if hard == resource.RLIM_INFINITY:
        return wanted
    listeners = len(settings.clients) + len(settings.neighbours) + LISTENERS_DESCRIPTORS
    found = fitted(wanted, hard - open_descriptors() - listeners)
    if found.clients < wanted.clients:
        _log.warning(
            "fewer descriptors than limits.connections needs",
            extra=fields(descriptors=hard, connections=wanted.clients, clients_at_once=found.clients),
        )
    return found

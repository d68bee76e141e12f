"""What every case imports, so that the process that cases come from has it already."""

import tamis.blocking
import tamis.cli.check
import tamis.cli.main
import tamis.cli.pub
import tamis.cli.sub
import tamis.configs
import tamis.protocol.language
import tamis.router.daemon.start  # noqa: F401

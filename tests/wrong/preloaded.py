"""What every case imports, so that the process that cases come from has it already."""

import tamis.blocking
import tamis.cli.main
import tamis.cli.messages.pub
import tamis.cli.messages.sub
import tamis.cli.topology.check
import tamis.configs
import tamis.protocol.language
import tamis.router.daemon.start  # noqa: F401

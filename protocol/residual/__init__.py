"""The residual of a filter: a small program that decides, for one subscription, what the predicate index cannot.

    Assembler, glob, like, cidr  make a program; `Assembler.program()` returns it, checked
    Program                      its constants and instructions; `pack()` returns its bytes, read_program() reads them
    run(program, attributes)     evaluates it slowly and plainly: the meaning of a program
    conditions                   the parts of it that are joined by `and`
    listing, in_words            say it to a person

Law: pure, and alone in `protocol/`: no grammar of a language is known here. native/residual/ verifies and runs the same
bytes; tests compare the two.
"""

from __future__ import annotations

from tamis.protocol.residual.assembler import Assembler
from tamis.protocol.residual.conditions import conditions
from tamis.protocol.residual.evaluate import ResidualResult, ResidualVerdict, run
from tamis.protocol.residual.instructions import Arithmetic, Cast, Instruction, KindBit, Mixed, Opcode
from tamis.protocol.residual.patterns import Cidr, Glob, cidr, glob, like
from tamis.protocol.residual.program import Constant, Program, read_program
from tamis.protocol.residual.show import in_words, listing

__all__ = [
    "Arithmetic",
    "Assembler",
    "Cast",
    "Cidr",
    "Constant",
    "Glob",
    "Instruction",
    "KindBit",
    "Mixed",
    "Opcode",
    "Program",
    "ResidualResult",
    "ResidualVerdict",
    "cidr",
    "conditions",
    "glob",
    "in_words",
    "like",
    "listing",
    "read_program",
    "run",
]

"""Wrong inputs, drawn by a seed from good ones, and the answers that they get.

    python -m tests.wrong --seed 1 --count 50

    case        a wrong input: a command line or a call of the client, and the files that it names
    slips       what people do to a word: letters swapped, look-alikes, a quote that is left open
    topologies  wrong topology files, and files that are something else
    secrets     wrong files of tokens, secrets and certificates
    texts       wrong predicates, attributes and addresses
    commands    wrong command lines
    calls       wrong calls of the client
    run         each case in a process of its own, beside routers that run
    grade       what can be judged of an answer without reading it

Law: equal seeds give equal inputs. A case is wrong for certain, so an answer that takes it is a mistake. Whether an
answer is good is decided by reading; `grade` finds the answers that cannot be.
"""

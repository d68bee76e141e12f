"""Access: who may do what, as rules that are predicates; a pure part without files, sockets and clocks.

    rule.py        a predicate with the operand `${name}`
    patterns.py    patterns of the names of durable subscriptions and worker groups
    role.py        what one role may do
    judge.py       how rules decide, and the reason
    rights.py      what a class of principals (a set of roles) may do: which rules decide about what
    principals.py  names to classes: exact lines, sub-names, certificates
    issuers.py     issuers of signed tokens, and what they may say
    rules.py       all of it together
    questions.py   a verb and what it is about, for tests in a file and for the command line
    audit_line.py  the chain of an audit log
    witness.py     a message that satisfies constraints, as an example

Law: this is the definition, as `evaluate.py` is that of a match; each faster way of deciding is judged by it. What no
role allows is refused, and what one role of a principal denies is refused whatever its other roles allow.
"""

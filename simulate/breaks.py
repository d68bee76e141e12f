from tamis.simulate.strategies import Kit
def without(rule: str, kit: Kit) -> Kit:
    raise ValueError(rule)

"""Commands about who may do what: rules are checked and asked without a router."""

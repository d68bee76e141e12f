"""Who comes in, by the rules of access.

signed_tokens  tokens of issuers (JWT)        keys       the public keys of an issuer
verifying      verification in a thread
"""

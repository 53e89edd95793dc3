"""The same `cdk deploy`, onto an emulator on this machine: launch, deploy, repair what it drops, make users.

Nothing here describes the product; that is the stack's business. See docs/decisions/0012.
"""

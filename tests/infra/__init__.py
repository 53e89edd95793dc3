"""Tests of the template; `infra` comes first, since it says which Node.js the CDK runs on."""

import infra  # noqa: F401 - imported for what it sets

"""The OpenAPI document of the API, made from the code that answers (docs/decisions/0075)."""

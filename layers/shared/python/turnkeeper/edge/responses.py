"""An answer as powertools' resolver takes it."""

from aws_lambda_powertools.event_handler import Response

from turnkeeper.edge.answers import Answer


def sent(answer: Answer) -> Response[str]:
    """*answer*, which is in the gateway's own shape, as a response of the resolver."""
    response = Response(answer["statusCode"], body=answer["body"], headers=answer["headers"])
    response.base64_encoded = answer.get("isBase64Encoded", False)
    return response

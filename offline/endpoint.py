"""Where an engine answers, and how any AWS client or tool is made to talk to it and to nothing else."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

HOST, REGION, ACCOUNT = "127.0.0.1", "us-east-1", "000000000000"
KEY = "test"
"""The engine's root key, both halves; it opens nothing else."""


@dataclass(frozen=True)
class Endpoint:
    """The address of an engine, and the certificate to trust when it speaks TLS."""

    url: str
    certificate: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What makes a tool's AWS calls go here."""
        trust = str(self.certificate) if self.certificate else ""
        past_the_proxy = ",".join(filter(None, [os.environ.get("NO_PROXY"), HOST]))
        return {
            "NO_PROXY": past_the_proxy,
            "no_proxy": past_the_proxy,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            **({"AWS_CA_BUNDLE": trust, "NODE_EXTRA_CA_CERTS": trust} if trust else {}),
        }

    def client(self, service: str) -> Any:
        """Return a boto3 client of *service*, whatever the environment says."""
        session: Any = boto3.Session(aws_access_key_id=KEY, aws_secret_access_key=KEY, region_name=REGION)
        trust = str(self.certificate) if self.certificate else None
        return session.client(service, endpoint_url=self.url, verify=trust, config=Config(proxies={}))

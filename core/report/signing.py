"""Who answers for a report: an Ed25519 signature (RFC 8032) over the exact bytes of its file, in a file beside it.

The signature's file is JSON with the public key and the signature, both base64. A valid one says that whoever holds the
private key signed these bytes; it says nothing of how the numbers came about. Private keys are PEM files (PKCS 8)
without a password: who can read the file can sign. The package `cryptography` is needed for this and nothing else.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from core.errors import FairLeakError, InputError
from core.report.canonical import parse_json
from core.report.verification import Finding

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ENDING = ".sig"
"""What the name of a signature's file adds to that of the report."""

NOT_SIGNED = (
    "Not signed: anybody could have written this report, its numbers and its fingerprint; only `replay` on the same "
    "table measures them again."
)

_KIND = "fairleak signature"
_MEANS = "The signer answers for the numbers; only `replay` on the same table measures them again."


def new_key() -> tuple[bytes, bytes]:
    """Return a new private key and its public key, as PEM."""
    crypto = _cryptography()
    key = crypto.ed25519.Ed25519PrivateKey.generate()
    return (
        key.private_bytes(
            crypto.serialization.Encoding.PEM,
            crypto.serialization.PrivateFormat.PKCS8,
            crypto.serialization.NoEncryption(),
        ),
        key.public_key().public_bytes(
            crypto.serialization.Encoding.PEM, crypto.serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    )


def private_key(pem: bytes, *, name: str) -> Ed25519PrivateKey:
    """Read a private key.

    Raises
    ------
    InputError
        If it is no Ed25519 key in PEM without a password; nothing of its content is told.
    """
    crypto = _cryptography()
    try:
        found = crypto.serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, crypto.UnsupportedAlgorithm):
        found = None
    if not isinstance(found, crypto.ed25519.Ed25519PrivateKey):
        raise InputError(f"{name} must be an Ed25519 private key in PEM without a password, got something else.")
    return found


def public_key(pem: bytes, *, name: str) -> Ed25519PublicKey:
    """Read a public key.

    Raises
    ------
    InputError
        If it is no Ed25519 public key in PEM.
    """
    crypto = _cryptography()
    try:
        found = crypto.serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, crypto.UnsupportedAlgorithm):
        found = None
    if not isinstance(found, crypto.ed25519.Ed25519PublicKey):
        raise InputError(f"{name} must be an Ed25519 public key in PEM, got something else.")
    return found


def signature_of(content: bytes, key: Ed25519PrivateKey) -> str:
    """Return what stands in the signature's file for a file of these bytes."""
    told = {
        "kind": _KIND,
        "algorithm": "Ed25519",
        "public_key": _text(key.public_key().public_bytes_raw()),
        "signature": _text(key.sign(content)),
    }
    return f"{json.dumps(told, indent=1)}\n"


def signature_finding(content: bytes, signature: bytes | None, *, signer: bytes | None, name: str) -> Finding:
    """Return whether a file is signed, and by whom as far as that is known.

    Parameters
    ----------
    content : bytes
        The signed file's.
    signature : bytes or None
        The signature's file; None where there is none.
    signer : bytes or None
        PEM of the public key it must be signed with; None to take the key that comes with the signature.
    name : str
        What to call the signer's file.

    Raises
    ------
    InputError
        If the signer's file is no public key.
    FairLeakError
        If the package that checks signatures is not installed.
    """
    wanted = None if signer is None else public_key(signer, name=name)
    if signature is None:
        return _finding(signer is None, NOT_SIGNED)
    try:
        key, signed = _read(signature)
    except (InputError, ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return _finding(False, "Signature does not hold: its file is none that FairLeak wrote.")
    told = _text(key.public_bytes_raw())
    if not _valid(key, signed, content):
        return _finding(
            False, f"Signature does not hold: the file is not what the owner of the key {told} signed, if they did."
        )
    if wanted is None:
        return _finding(
            True,
            f"Signature holds, by the key {told}; whose key that is, it does not tell: anybody can make one. "
            "--signer takes the public key of who should have signed.",
        )
    if wanted.public_bytes_raw() != key.public_bytes_raw():
        return _finding(
            False, f"Signed by another key: by {told}, not by {_text(wanted.public_bytes_raw())} of {name}."
        )
    return _finding(True, f"Signature holds: the owner of {name} signed exactly this file. {_MEANS}")


def _finding(holds: bool, told: str) -> Finding:
    return Finding(name="signature", holds=holds, told=told)


def _read(signature: bytes) -> tuple[Ed25519PublicKey, bytes]:
    found = parse_json(signature.decode("utf-8"))
    if found.get("kind") != _KIND or found.get("algorithm") != "Ed25519":
        raise InputError("A signature must call itself one.")
    key, signed = (base64.b64decode(found[part], validate=True) for part in ("public_key", "signature"))
    return _cryptography().ed25519.Ed25519PublicKey.from_public_bytes(key), signed


def _valid(key: Ed25519PublicKey, signed: bytes, content: bytes) -> bool:
    try:
        key.verify(signed, content)
    except _cryptography().InvalidSignature:
        return False
    return True


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


class _Cryptography:
    """The parts of the package that are used here."""

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519

        self.InvalidSignature, self.UnsupportedAlgorithm = InvalidSignature, UnsupportedAlgorithm
        self.serialization, self.ed25519 = serialization, ed25519


def _cryptography() -> Any:
    try:
        return _Cryptography()
    except ImportError:
        raise FairLeakError(
            "A signature needs the package cryptography; install what requirements-signing.txt lists."
        ) from None

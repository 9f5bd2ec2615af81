"""A certificate authority of a test, and a certificate that it has signed, as Dask's settings."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


def make_certificates(folder: Path) -> dict[str, str]:
    """Write them; the environment that names them for scheduler, workers and client (docs/how-to/cluster.md)."""
    authority, signed = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer, subject = _name("firstfault test authority"), _name("firstfault")
    root = _builder(issuer, issuer, authority).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    leaf = _builder(issuer, subject, signed)
    ca_file, cert, key = folder / "ca.pem", folder / "firstfault.pem", folder / "firstfault.key"
    pem = serialization.Encoding.PEM
    ca_file.write_bytes(root.sign(authority, hashes.SHA256()).public_bytes(pem))
    cert.write_bytes(leaf.sign(authority, hashes.SHA256()).public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8
    key.write_bytes(signed.private_bytes(pem, private, serialization.NoEncryption()))
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    sides = ("SCHEDULER", "WORKER", "CLIENT")
    return {
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
        f"{tls}CA_FILE": str(ca_file),
        **{f"{tls}{side}__CERT": str(cert) for side in sides},
        **{f"{tls}{side}__KEY": str(key) for side in sides},
    }


def _builder(issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])

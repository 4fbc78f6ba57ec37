"""Ed25519 (RFC 8032) for check_certificate.py: whether a host signed the root of a certificate."""
import hashlib

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

def add(a, b):
    t, x, y = D * a[0] * b[0] * a[1] * b[1], a[0] * b[1] + b[0] * a[1], a[1] * b[1] + a[0] * b[0]
    return x * pow(1 + t, -1, P) % P, y * pow(1 - t, -1, P) % P

def times(k, a):
    return add(times(k // 2, add(a, a)), a if k % 2 else (0, 1)) if k else (0, 1)

def point(data):
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if len(data) != 32 or y >= P or x * x % P != square or (x == 0 and sign):
        raise ValueError("the key or the signature is no point of the curve")
    return (x if x % 2 == sign else P - x), y

def is_signed(line, root):
    """Whether the line {"host": …, "key": …, "signature": …} signs the root, given in hexadecimal."""
    key, signature = bytes.fromhex(line["key"]), bytes.fromhex(line["signature"])
    message = f"queenfold certificate 1\n{root}\n{line['host']}\n".encode()
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    base, public = point((4 * pow(5, -1, P) % P).to_bytes(32, "little")), point(key)
    small = times(8, public) == (0, 1)  # such a key would sign everything
    return len(signature) == 64 and s < ORDER and not small and times(s, base) == add(point(signature[:32]), times(k, public))

if __name__ == "__main__":
    raise SystemExit("a part of check_certificate.py, which checks a certificate: give that the file")

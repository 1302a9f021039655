"""An npm registry for tests: one tarball a package, made of a directory.

Usage: registry.py ROOT. Prints its port. ROOT/NAME/ is the package (its package.json has name and
version); with ROOT/NAME.tgz that is the tarball instead. ROOT/NAME.lie makes the registry name
another digest than the tarball has. A line for each request is added to ROOT/log.
"""

import base64
import hashlib
import http.server
import io
import json
import pathlib
import sys
import tarfile
import urllib.parse

root = pathlib.Path(sys.argv[1])


def tarball(name):
    ready = root / f"{name}.tgz"
    if ready.exists():
        return ready.read_bytes()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path in sorted((root / name).rglob("*")):
            tar.add(path, arcname="package/" + str(path.relative_to(root / name)), recursive=False)
    return out.getvalue()


tarballs = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        with open(root / "log", "a") as log:
            log.write(f"{self.command} {self.path}\n")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.unquote(self.path)[1:]
        name, _, file = path.partition("/-/")
        if not (root / name / "package.json").exists():
            return self.answer(404, b"{}", "application/json")
        body = tarballs.setdefault(name, tarball(name))
        if file:
            return self.answer(200, body, "application/octet-stream")
        said = b"another" if (root / f"{name}.lie").exists() else body
        package = json.loads((root / name / "package.json").read_text())
        package["dist"] = {
            "tarball": f"http://{self.headers['Host']}/{name}/-/package.tgz",
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(said).digest()).decode(),
            "shasum": hashlib.sha1(said).hexdigest(),
        }
        version = package["version"]
        document = {"name": name, "dist-tags": {"latest": version}, "versions": {version: package}}
        self.answer(200, json.dumps(document).encode(), "application/json")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()

"""An HTTPS server for tests: files, git repositories, and every way to misbehave.

Usage: https.py CERTIFICATE KEY ROOT. Prints its port. Files are below ROOT/files, bare
repositories below ROOT/git; a line for each request is added to ROOT/log.
"""

import hashlib
import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import time

certificate, key, root = sys.argv[1:]
root = pathlib.Path(root)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, to):
        self.plain(302, headers=[("Location", to)])

    def file(self, name):
        path = root / "files" / pathlib.Path(name.partition("?")[0]).name
        if not path.exists():
            return self.plain(404)
        body = path.read_bytes()
        etag = '"%s"' % hashlib.sha256(body).hexdigest()
        if self.headers.get("If-None-Match") == etag:
            return self.plain(304, headers=[("ETag", etag)])
        return self.plain(200, body, [("ETag", etag)])

    def slow(self, name):
        body = (root / "files" / pathlib.Path(name).name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2
        self.wfile.write(body[:half])
        self.wfile.flush()
        time.sleep(2)
        self.wfile.write(body[half:])

    def cut(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"x" * 5000)
        self.wfile.flush()
        self.close_connection = True

    def endless(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            self.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def git(self, path, swap=None, pause=False):
        path, _, query = path.partition("?")
        body = self.body()
        if swap:
            for line in swap.read_text().split():
                asked, given = line.split("=")
                body = body.replace(b"want " + asked.encode(), b"want " + given.encode())
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_PROJECT_ROOT": str(root / "git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        backend = ["git", "-c", "safe.directory=*", "http-backend"]
        done = subprocess.run(backend, input=body, env=environment, capture_output=True)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((int(v.split()[0]) for n, v in headers if n == "Status"), 200)
        headers = [(n, v) for n, v in headers if n not in ("Status", "Content-Length")]
        if pause:
            return self.trickle(status, answer, headers)
        self.plain(status, answer, headers)

    def trickle(self, status, body, headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 1000):
            self.wfile.write(body[at : at + 1000])
            self.wfile.flush()
            time.sleep(0.1)

    def dumb(self, path):
        path = (root / "git" / path.partition("?")[0]).resolve()
        if root.resolve() not in path.parents or not path.is_file():
            return self.plain(404)
        self.plain(200, path.read_bytes())

    def answer(self):
        with open(root / "log", "a") as log:
            log.write(f"{self.command} {self.path}\n")
        way, _, rest = self.path[1:].partition("/")
        if way == "files":
            self.file(rest)
        elif way == "slow":
            self.slow(rest)
        elif way == "hang":
            time.sleep(120)
        elif way == "cut":
            self.cut()
        elif way == "endless":
            self.endless()
        elif way == "to":
            self.redirect(f"/files/{rest}")
        elif way == "loop":
            self.redirect(self.path)
        elif way == "to-http":
            self.redirect(f"http://{self.headers['Host']}/files/{rest}")
        elif way == "git":
            self.git("/" + rest)
        elif way == "git-dumb":
            self.dumb(rest)
        elif way == "git-slow":
            self.git("/" + rest, pause=True)
        elif way == "git-moved":
            self.redirect(f"/git/{rest}")
        elif way == "git-swapped":
            self.git("/" + rest, swap=root / "swap")
        else:
            self.plain(404)

    do_GET = do_POST = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server = Server(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()

"""An https server for the tests of downloads: https_server.py FOLDER CERT KEY LOG

Prints its port. Serves FOLDER's files; /ranges/ knows byte ranges, /plain/ ignores them, /to-http/ redirects to http,
/to-file/ to a file address, /again/ to /ranges/, /slow/ breaks off after half of the file. LOG gets a line a request:
path, range.
"""
import http.server
import os
import ssl
import sys

folder, cert, key, log = sys.argv[1:5]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def redirect(self, where):
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        asked = self.headers.get("Range", "")
        with open(log, "a") as out:
            out.write(f"{self.path} {asked}\n")
        _, way, name = self.path.split("/", 2)
        if way == "to-http":
            return self.redirect("http://localhost:1/" + name)
        if way == "to-file":
            return self.redirect("file:///etc/passwd")
        if way == "again":
            return self.redirect("/ranges/" + name)
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            data = file.read()
        first = int(asked[6:].split("-")[0]) if asked.startswith("bytes=") and way in ("ranges", "slow") else 0
        if first >= len(data) > 0:
            return self.send_error(416)
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(data) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        end = first + (len(data) - first) // 2 if way == "slow" and not first else len(data)
        self.wfile.write(data[first:end])
        if end < len(data):
            self.wfile.flush()
            self.close_connection = True


server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()

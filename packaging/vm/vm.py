"""A virtual machine of vm.sh, and the frame of a scenario."""
import os, re, shutil, socket, subprocess, sys, time


class Console:
    """A shell on a serial line."""

    def __init__(self, path):
        self.buffer = b""
        for _ in range(100):
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(.1)
        self.socket.settimeout(.5)

    def send(self, text):
        self.socket.sendall(text.encode())

    def until(self, pattern, limit):
        """Reads until the pattern has come; returns what was read, or None after limit seconds."""
        end = time.time() + limit
        while True:
            found = re.search(pattern, self.buffer)
            if found:
                read, self.buffer = self.buffer[:found.end()], self.buffer[found.end():]
                return read.decode(errors="replace")
            if time.time() > end:
                return None
            try:
                self.buffer += self.socket.recv(65536)
            except socket.timeout:
                pass

    def await_shell(self, limit):
        """Waits for the prompt of bash and replaces it by sh, which does not edit lines."""
        if self.until(rb"[$#] $", limit) is None:
            raise Failure("no prompt within %d s: %r" % (limit, self.buffer[-300:]))
        self.send("exec env PS1= sh\n")
        self.send("stty -echo cols 100 rows 30; echo READ''Y\n")
        if self.until(rb"READY\r?\n", 60) is None:
            raise Failure("no shell: %r" % self.buffer[-300:])

    def run(self, line, limit=120):
        """Runs a line and returns its status and output."""
        self.buffer = b""
        self.send(line + "; echo DO''NE-$?\n")
        read = self.until(rb"DONE-\d+\r?\n", limit)
        if read is None:
            raise Failure("%s: no end within %d s: %r" % (line, limit, self.buffer[-300:]))
        text, _, status = read.rpartition("DONE-")
        return int(status), re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")

    def must(self, line, limit=120):
        """Runs a line that must succeed, and returns its output."""
        status, text = self.run(line, limit)
        if status:
            raise Failure("%s: status %d: %s" % (line, status, text.strip()[-300:]))
        return text.strip()


class Failure(Exception):
    pass


class Machine:
    """A machine with a disk of its own. Its consoles are root and, after login, u."""

    def __init__(self, work, name):
        self.work, self.disk = work, os.path.join(work, name + ".img")
        subprocess.check_call(["cp", "--sparse=always", os.path.join(work, "base.img"), self.disk])
        self.process = None

    def boot(self):
        names = [os.path.join(self.work, n) for n in ("u.sock", "root.sock")]
        for n in names:
            if os.path.exists(n):
                os.remove(n)
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-m", "1024", "-smp", "2", "-kernel", os.path.join(self.work, "vmlinuz"),
             "-append", "root=/dev/nvme0n1 rw console=ttyS1 quiet mitigations=off", "-drive", "file=%s,format=raw,if=none,id=d,cache=writeback" % self.disk,
             "-device", "nvme,drive=d,serial=x", "-serial", "unix:%s,server,nowait" % names[0], "-serial", "unix:%s,server,nowait" % names[1],
             "-monitor", "none", "-display", "none", "-nic", "none", "-no-reboot"], stdin=subprocess.DEVNULL)
        self.u, self.root = Console(names[0]), Console(names[1])
        self.root.await_shell(240)

    def login(self):
        self.root.must("systemctl start serial-getty@ttyS0")
        self.u.send("\n")
        self.u.await_shell(120)

    def logout(self):
        self.u.send("exit\n")
        for _ in range(60):
            if self.root.run("systemctl is-active -q serial-getty@ttyS0")[0]:
                return
            time.sleep(1)
        raise Failure("the login does not end")

    def reboot(self):
        self.root.send("systemctl reboot\n")
        self.process.wait(240)
        self.boot()

    def cut(self):
        """Cuts the power: what the guest has not synced is lost."""
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.cut()
        os.remove(self.disk)


def check(holds, text):
    if not holds:
        raise Failure(text)


def scenario(name, run):
    """Runs a scenario on a machine of its own and prints one line: its result, what was seen, seconds."""
    start, m = time.time(), Machine(sys.argv[1], name)
    try:
        m.boot()
        said, good = run(m), True
    except (Failure, subprocess.TimeoutExpired) as e:
        said, good = str(e), False
    finally:
        m.close()
    print("%s: %s; %s (%d s)" % (name, "ok" if good else "FAILED", " ".join(said.split()), time.time() - start), flush=True)
    sys.exit(not good)

# Typical uses of libtmux 0.21 (Debian's python3-libtmux). Each line prints a step's name and
# result. Ids and times are omitted, because they depend on earlier runs.
import re
import sys
import time
import warnings

import libtmux

warnings.simplefilter("ignore")
server = libtmux.Server(socket_name=sys.argv[1])
kept = {}


def step(name, do):
    try:
        text = repr(do())
    except Exception as e:
        text = "! %s: %s" % (type(e).__name__, e)
    print(name + ": " + re.sub(r"([$@%])\d+", r"\1N", text), flush=True)


def until(test):
    end = time.time() + 60
    while time.time() < end:
        value = test()
        if value:
            return value
        time.sleep(0.02)
    return "it never came"


def keep(name, value):
    kept[name] = value
    return value


step("no server", lambda: (server.is_alive(), server.sessions, server.has_session("x")))
step("new session", lambda: keep("s", server.new_session("work", window_name="first", start_directory="/tmp", x=100, y=30, window_command="cat")))
s = kept["s"]
step("has session", lambda: [server.has_session(n, exact=e) for n, e in (("work", True), ("wor", True), ("wor", False), ("w*k", False), ("nope", True))])
step("the same name", lambda: server.new_session("work"))
step("a bad name", lambda: server.new_session("a.b"))
step("a bad new name", lambda: s.rename_session("a:b"))
step("attached sessions", lambda: server.attached_sessions)
step("switch client", lambda: server.switch_client("nope"))
step("kill a session that is none", lambda: server.kill_session("nope"))
w, p = s.attached_window, s.attached_pane
step("of a session", lambda: {k: v for k, v in s.__dict__.items() if k.startswith("session_") and v is not None and k not in ("session_created", "session_activity", "session_last_attached")})
step("of a window", lambda: {k: v for k, v in w.__dict__.items() if k.startswith("window_") and v is not None and k not in ("window_activity", "window_layout")})
step("of a pane", lambda: {k: v for k, v in p.__dict__.items() if k.startswith("pane_") and v is not None and k not in ("pane_pid", "pane_tty", "pane_title")})
step("its program", lambda: (int(p.pane_pid) > 0, p.pane_tty.startswith("/dev/")))
step("all that is known", lambda: sorted(k for k, v in p.__dict__.items() if v is not None))

step("set environment", lambda: (s.set_environment("FOO", "BAR"), s.getenv("FOO"), s.show_environment()["FOO"])[1:])
step("remove environment", lambda: (s.remove_environment("FOO"), s.getenv("FOO")))
step("unset environment", lambda: (s.set_environment("FOO", "BAR"), s.unset_environment("FOO"), s.getenv("FOO")))
step("environment of the server", lambda: (server.set_environment("GG", "1"), server.getenv("GG"), server.unset_environment("GG"), server.getenv("GG")))
step("no option", lambda: (s.show_options(), s.show_option("default-shell")))
step("set option", lambda: (s.set_option("history-limit", 4000), s.show_option("history-limit"), s.show_options())[1:])
step("set switch", lambda: [(s.set_option("mouse", on), s.show_option("mouse"))[1] for on in (True, False)])
step("set one's own", lambda: (s.set_option("@my", "a b c"), s.show_option("@my"))[1])
step("set globally", lambda: (s.set_option("status", "off", _global=True), s.show_option("status", _global=True))[1])
for name in ("moooz", "bell-", "b"):
    step("show option " + name, lambda: s.show_option(name))
    step("set option " + name, lambda: s.set_option(name, 43))
step("set a bad number", lambda: s.set_option("base-index", "abc"))
step("set a bad choice", lambda: s.set_option("status-position", "abc"))
step("window option", lambda: (w.set_window_option("main-pane-height", 20), w.show_window_option("main-pane-height"), w.show_window_options())[1:])
step("window format", lambda: (w.set_window_option("pane-border-format", " #P "), w.show_window_option("pane-border-format"))[1])
step("no window option", lambda: w.show_window_option("automatic-rename-format"))
for name in ("moooz", "clock-mode"):
    step("show window option " + name, lambda: w.show_window_option(name))
    step("set window option " + name, lambda: w.set_window_option(name, 43))

step("new window", lambda: s.new_window("two", attach=False, window_shell="cat").window_name)
step("at an index", lambda: s.new_window("five", window_index="5", attach=False, window_shell="cat").window_index)
step("at one that is taken", lambda: s.new_window("five", window_index="5", attach=False))
step("with environment", lambda: until(lambda: [l for l in keep("e", kept.get("e") or s.new_window("env", window_shell="echo $EV-end; exec cat", environment={"EV": "window"})).attached_pane.capture_pane() if l == "window-end"]))
step("in a folder", lambda: s.new_window("dir", attach=False, start_directory="/usr", window_shell="cat").attached_pane.pane_start_path)
step("windows", lambda: [(x.window_name, x.window_index, x.window_active) for x in s.windows])
step("filter", lambda: [x.window_name for x in server.windows.filter(window_name__contains="i")])
step("get", lambda: s.windows.get(window_name="two").window_index)
step("select window", lambda: [s.select_window(t).window_name for t in (0, "two", "5")])
step("select none", lambda: s.select_window("nowhere"))
step("attached window", lambda: (w.select_window(), s.attached_window.window_name)[1])
step("rename window", lambda: [w.rename_window(n).window_name for n in ("ha ha hi", "tricky $x 'q' \"dq\"", "first")])
step("move window", lambda: (w.move_window("9"), w.window_index)[1])
step("move to one that is taken", lambda: w.move_window("5"))
step("split", lambda: keep("p2", w.split_window(shell="cat")).pane_index)
step("split beside", lambda: keep("p3", w.split_window(vertical=False, shell="cat", attach=False)).pane_index)
step("split a part", lambda: w.split_window(percent=30, shell="cat").pane_height)
step("split a pane", lambda: w.split_window(target=kept["p2"].pane_id, shell="cat").pane_index)
step("panes", lambda: [(x.pane_index, x.pane_width, x.pane_height, x.pane_active, x.pane_left, x.pane_top) for x in w.panes])
step("select pane", lambda: [w.select_pane(t).pane_index for t in ("-U", "-D", "-L", "-R", kept["p2"].pane_id)])
step("last pane", lambda: w.last_pane().pane_index)
step("select no pane", lambda: w.select_pane("%99999"))
for layout in ("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled", "bogus"):
    step(layout, lambda: (w.select_layout(layout), [(x.pane_width, x.pane_height) for x in w.panes])[1])
step("resize", lambda: (w.select_layout("even-vertical"), kept["p2"].resize_pane(height=4), kept["p2"].refresh(), kept["p2"].pane_height)[3])
step("resize by steps", lambda: [(kept["p2"].resize_pane(d), kept["p2"].refresh(), kept["p2"].pane_height)[2] for d in ("-D", "-U")])
step("set height", lambda: kept["p2"].set_height(6).pane_height)
step("set width", lambda: (w.select_layout("even-horizontal"), kept["p2"].set_width(10).pane_width)[1])

pane = s.new_window("keys", window_shell="env PS1='$ ' sh").attached_pane
step("prompt", lambda: until(lambda: [l.rstrip() for l in pane.capture_pane()] == ["$"]))
step("send keys", lambda: (pane.send_keys("printf '%s' hello-$((1+1)); echo"), until(lambda: "hello-2" in pane.capture_pane()))[1])
step("send literally", lambda: (pane.send_keys("C-c", enter=False, literal=True), until(lambda: pane.capture_pane()[-1].endswith("C-c")))[1])
step("send a key", lambda: (pane.send_keys("C-c", enter=False), until(lambda: pane.capture_pane()[-1].rstrip() == "$"))[1])
step("enter", lambda: (pane.send_keys("echo en", enter=False), pane.enter(), until(lambda: "en" in pane.capture_pane()))[2])
step("capture a part", lambda: (pane.send_keys("clear; seq 1 50"), until(lambda: pane.capture_pane()[-2:-1] == ["50"]), pane.capture_pane(start=0, end=2), pane.capture_pane(start=-3, end=0), pane.capture_pane(start="-", end="-")[:1])[2:])
step("clear", lambda: (pane.clear(), until(lambda: "50" not in pane.capture_pane()))[1])
step("display", lambda: (pane.display_message("#{pane_index} #{window_name} #S", get_text=True), pane.display_message("hi", get_text=False)))
step("where it is", lambda: (pane.session.session_name, pane.window.window_name, pane == pane.window.panes[0]))
step("all panes", lambda: (len(s.panes), sum(len(x.panes) for x in s.windows)))
step("by id", lambda: (libtmux.Pane.from_pane_id(server, pane.pane_id) == pane, libtmux.Window.from_window_id(server, w.window_id) == w))
step("by no id", lambda: libtmux.Pane.from_pane_id(server, "%9999"))
step("split from a pane", lambda: pane.split_window(percent=50, attach=False, ).pane_index)
step("kill window", lambda: (s.kill_window("two"), [x.window_name for x in s.windows])[1])
step("kill no window", lambda: s.kill_window("two"))
step("buffers", lambda: [server.cmd(*c).stdout for c in (("set-buffer", "-b", "x", "text"), ("show-buffer", "-b", "x"), ("delete-buffer", "-b", "x"))])
step("no such command", lambda: server.cmd("bogus").stderr)
step("version", lambda: str(libtmux.common.get_version()))
step("another session", lambda: server.new_session("other", window_command="cat").session_name)
step("rename session", lambda: (s.rename_session("play").session_name, server.has_session("play")))
step("kill session", lambda: (s.kill_session(), server.has_session("play"), [x.session_name for x in server.sessions])[1:])
step("kill server", lambda: (server.kill_server(), server.is_alive()))

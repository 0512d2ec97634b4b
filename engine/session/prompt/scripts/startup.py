# What Tandem has Python read as its PYTHONSTARTUP: the person's own file, and
# then marks around the prompt.


def _tandem():
    import os
    import sys

    nonce = os.environ.pop("TANDEM_SHELL_NONCE", "")
    own = os.environ.pop("TANDEM_SHELL_PYTHONSTARTUP", None)
    os.environ.pop("PYTHONSTARTUP", None)
    prompt = os.environ.pop("TANDEM_SHELL_PROMPT", None)
    if own is not None:
        os.environ["PYTHONSTARTUP"] = own

    def install():
        failed = [False]
        begun = [False]
        hook = sys.excepthook

        def excepthook(*args):
            failed[0] = True
            hook(*args)

        sys.excepthook = excepthook

        def hidden(text):
            return "\001" + text + "\002"

        def mark(what):
            return hidden("\033]133;%s;aid=%s\007" % (what, nonce))

        class Prompt:
            def __init__(self, own, first):
                self.own, self.first = own, first

            def __str__(self):
                own = str(self.own)
                if not self.first:
                    return own + hidden("\033]133;P;k=s;aid=%s\007" % nonce)
                end = ""
                if begun[0]:
                    end = mark("D;%d" % failed[0])
                begun[0], failed[0] = True, False
                return end + mark("A;c=0") + own + mark("B")

        sys.ps1 = Prompt(getattr(sys, "ps1", ">>> ") if prompt is None else prompt, True)
        sys.ps2 = Prompt(getattr(sys, "ps2", "... "), False)

    return nonce, own, install


_tandem_nonce, _tandem_own, _tandem_install = _tandem()
del _tandem
if _tandem_own:
    try:
        with open(_tandem_own, "rb") as _tandem_file:
            exec(compile(_tandem_file.read(), _tandem_own, "exec"))
    except OSError as _tandem_error:
        print("Could not open PYTHONSTARTUP\n%s: %s" % (type(_tandem_error).__name__, _tandem_error))
        del _tandem_error
    except Exception:
        __import__("traceback").print_exc()
if _tandem_nonce:
    _tandem_install()
for _tandem_name in ("_tandem_nonce", "_tandem_own", "_tandem_install", "_tandem_file"):
    globals().pop(_tandem_name, None)
globals().pop("_tandem_name", None)

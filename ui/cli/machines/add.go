package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/remote/hosts/transport"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

func (v *Commands) addCommand() *cobra.Command {
	var env []string
	cmd := &cobra.Command{
		Use:   "add NAME USER@HOST | add NAME -- CMD…",
		Short: "Add a machine, and install tandem there if it is missing",
		Long: "Adds a machine to config.toml. It logs in over ssh in this terminal, so that passwords, host keys\n" +
			"and second factors work. If tandem is missing there, it copies this executable, provided that\n" +
			"system and processor match. USER@HOST is any destination that ssh accepts, such as an alias from\n" +
			"~/.ssh/config or ssh://me@box:2222. With CMD, that command reaches the machine instead of ssh; it\n" +
			"must connect its input and output to `tandem bridge` there.",
		Example: "tandem machine add box me@box.example.org\ntandem machine add dev -- docker exec -i dev tandem bridge",
		Args:    factory.AtLeast(2, "add what? Give a name, and user@host or a command after --."),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := transport.Machine{Name: args[0], Env: map[string]string{}}
			switch {
			case cmd.ArgsLenAtDash() == 1:
				m.Transport = args[1:]
			case len(args) == 2:
				m.SSH = args[1]
			default:
				return output.Usagef(cmd, "add %s: must be user@host, or a command after --", output.Visible(m.Name))
			}
			for _, pair := range env {
				name, value, ok := strings.Cut(pair, "=")
				if !ok || name == "" {
					return output.Usagef(cmd, "read --env %s: must be K=V", output.Visible(pair))
				}
				m.Env[name] = value
			}
			if !v.f.Machines.Named(m.Name) || strings.HasPrefix(m.SSH, "-") {
				return output.Usagef(cmd, "add %s: must be a name of letters, digits, dots, - and _", output.Visible(m.Name))
			}
			return v.add(cmd.Context(), m)
		},
	}
	cmd.Flags().StringArrayVar(&env, "env", nil, "set a variable for ssh or CMD: `K=V`")
	return cmd
}

func (v *Commands) add(ctx context.Context, m transport.Machine) error {
	if _, err := v.find(m.Name); err == nil {
		return api.Errorf(api.CodeConflict, "add %s: config.toml already has a machine with this name", m.Name).WithHint("`tandem machine remove " + m.Name + "` first")
	} else if !errors.Is(err, api.CodeNotFound) {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	path, err := v.enter(ctx, m)
	if ctx.Err() != nil && err != nil {
		err = api.Errorf(api.CodeUnavailable, "add %s: interrupted; nothing was added", m.Name)
	}
	if err != nil {
		// Leave no login behind for a machine that was not added.
		v.endMaster(ctx, m)
		return err
	}
	v.f.Out.Tell("wrote %s", path)
	return v.answerStatus(v.awaitKnown(ctx, m.Name))
}

// enter prepares a machine and adds it to config.toml. It returns the file's path.
func (v *Commands) enter(ctx context.Context, m transport.Machine) (path string, err error) {
	if m.SSH != "" {
		err = v.provision(ctx, m, false)
	} else {
		err = v.try(ctx, m)
	}
	if err != nil {
		return "", err
	}
	return v.f.Machines.Keep(m)
}

// try connects to a new machine once, by its command. It gives up after tryWait, unless a user at a
// terminal may still have to answer the command.
func (v *Commands) try(ctx context.Context, m transport.Machine) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if _, asked := output.Terminal(v.f.Stdin); !asked {
		limited, cancel = context.WithTimeout(ctx, tryWait)
	}
	defer cancel()
	err := v.greet(limited, m)
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("connect to %s: no answer within %v", m.Name, tryWait)
	}
	if err == nil || errors.Is(err, api.CodeUnavailable) {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "%v; nothing was added", err).
		WithHint("the command must run `tandem bridge` there, as in `tandem machine add dev -- docker exec -i dev tandem bridge`")
}

// answerStatus prints the status of a machine after an attempt to connect. It returns err if that
// is set, and exit status 1 if the machine is not connected.
func (v *Commands) answerStatus(m api.Machine, err error) error {
	if err != nil {
		return err
	}
	return v.answerOn(m, m, func() string { return formatStatus(m) })
}

const (
	// knownWait is how long the engine may take to read config.toml.
	knownWait = 6 * time.Second
	knownPoll = 100 * time.Millisecond
	// tryWait is how long the command of a new machine may take.
	tryWait = 20 * time.Second
)

// awaitKnown waits until the engine knows a new machine and has tried to connect to it.
func (v *Commands) awaitKnown(ctx context.Context, name string) (api.Machine, error) {
	for end := time.Now().Add(knownWait); ; {
		m, err := v.reach(ctx, name)
		if !errors.Is(err, api.CodeNotFound) || time.Now().After(end) {
			return m, err
		}
		if err := sleep.For(ctx, knownPoll); err != nil {
			return m, err
		}
	}
}

// awaitForgotten waits until the engine has dropped a machine, so that no command reaches it under
// its old name.
func (v *Commands) awaitForgotten(ctx context.Context, name string) error {
	for end := time.Now().Add(knownWait); time.Now().Before(end); {
		out, err := factory.Call(ctx, v.f, api.MachineList, api.MachineListInput{})
		if err != nil || !slices.ContainsFunc(out.Machines, func(m api.Machine) bool { return m.Name == name }) {
			return err
		}
		if err := sleep.For(ctx, knownPoll); err != nil {
			return err
		}
	}
	return api.Errorf(api.CodeUnavailable, "remove %s: the engine has not read config.toml yet", name).WithHint("run `tandem config check`")
}

func (v *Commands) connectCommand() *cobra.Command {
	return v.forOne(v.connect, &cobra.Command{
		Use: "connect NAME", Short: "Connect to a machine that needs you",
		Long: "Connects to a machine in this terminal, where it can ask you for a password, a host key, a second\n" +
			"factor or a login in a browser. Over ssh the login is kept in the background for the link.",
		Example: "tandem machine connect box",
	})
}

func (v *Commands) connect(ctx context.Context, m transport.Machine) error {
	enter := v.greet
	if m.SSH != "" {
		enter = v.login
	}
	if err := enter(ctx, m); err != nil {
		return err
	}
	return v.answerStatus(v.reach(ctx, m.Name))
}

func (v *Commands) upgradeCommand() *cobra.Command {
	return v.forOne(v.upgrade, &cobra.Command{
		Use: "upgrade NAME", Short: "Install this version of tandem on a machine",
		Long: "Copies this executable to a machine reached over ssh, if system and processor match, and\n" +
			"makes it replace the engine there. Sessions and processes keep running.",
		Example: "tandem machine upgrade box",
	})
}

func (v *Commands) upgrade(ctx context.Context, m transport.Machine) error {
	if m.SSH == "" {
		return api.Errorf(api.CodeInvalid, "upgrade %s: it is reached by a command, which cannot be used to copy a program", m.Name).
			WithHint("install tandem " + v.f.Version + " there; `tandem info` there then takes over its engine")
	}
	if err := v.provision(ctx, m, true); err != nil {
		return err
	}
	return v.answerStatus(v.reach(ctx, m.Name))
}

// greet runs the machine's transport command in this terminal until its bridge sends a hello.
func (v *Commands) greet(ctx context.Context, m transport.Machine) error {
	cmd := m.Command(m.Transport, v.f.Environ)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = v.f.Out.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("connect to %s: %w", m.Name, err)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = cmd.Process.Kill()
		out.Close() // which programs that it started may hold open
	})
	defer stop()
	hello, err := transport.ReadHello(out, &visibleWriter{to: v.f.Out.Stderr})
	in.Close()
	_ = cmd.Wait() // the command exits at the end of its input
	switch {
	case err != nil:
		return fmt.Errorf("connect to %s: %w", m.Name, err)
	case hello.Error != "":
		return api.Errorf(api.CodeUnavailable, "connect to %s: no engine there: %s", m.Name, hello.Error).WithHint(hello.Hint)
	}
	return nil
}

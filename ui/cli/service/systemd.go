package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/doctor"
)

// A state decides whether a reboot starts the engine.
type state struct {
	Unit      string   `json:"unit"`
	Installed bool     `json:"installed"`
	Edited    bool     `json:"edited"`
	Enabled   bool     `json:"enabled"`
	Active    string   `json:"active"` // of systemd, such as "active" or "failed"
	Linger    bool     `json:"linger"`
	AtBoot    []string `json:"at_boot"` // names of the sessions and processes to start
}

// readState returns the state of the unit. If systemd's user manager cannot be reached, the error's
// hint is an alternative.
func (u unit) readState(ctx context.Context) (s state, err error) {
	text, err := u.read()
	if err != nil {
		return s, err
	}
	s = state{Unit: u.path, Installed: text != "", Edited: text != "" && isEdited(text), AtBoot: []string{}}
	shown, err := u.run(ctx, "systemctl", "--user", "show", "--property=UnitFileState,ActiveState", u.name)
	if err != nil {
		return s, api.Errorf(api.CodeUnavailable, "reach the user manager of systemd: %v", err).WithHint(u.instead())
	}
	for line := range strings.Lines(shown) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name {
		case "UnitFileState":
			s.Enabled = value == "enabled"
		case "ActiveState":
			s.Active = value
		}
	}
	// It fails for a user without lingering or a login.
	linger, err := u.run(ctx, "loginctl", "show-user", userName(), "--property=Linger")
	s.Linger = err == nil && strings.TrimSpace(linger) == "Linger=yes"
	s.AtBoot = append(s.AtBoot, u.f.StartsAtBoot()...)
	return s, nil
}

const check = "reboot" // name in doctor

// assess reports whether a reboot starts the engine; if it does not, with the reason and a fix.
func (u unit) assess(s state) doctor.Finding {
	warn := func(why, fix string) doctor.Finding {
		return doctor.Finding{Check: check, Status: doctor.Warn, Detail: "a reboot does not start the engine: " + why, Fix: fix}
	}
	switch {
	case !s.Installed:
		return warn("there is no unit", "run `tandem service install`")
	case !s.Enabled:
		return warn("the unit is not enabled", "run `systemctl --user enable "+u.name+"`")
	case !s.Linger:
		return warn("lingering is off, so systemd starts your units only when you log in, and stops them when you log out",
			"run `loginctl enable-linger "+userName()+"`")
	case s.Active == "failed":
		return warn("the last start failed", "see `journalctl --user --unit "+u.name+"`")
	}
	return doctor.Finding{Check: check, Status: doctor.OK, Detail: "a reboot starts the engine, with " + u.name}
}

// run runs a program of systemd and returns its output.
func (u unit) run(ctx context.Context, name string, args ...string) (string, error) {
	path := u.machine.LookPath(name)
	if path == "" {
		return "", fmt.Errorf("%s: not found in PATH", name)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	var out, complaint bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = u.f.Environ, &out, &complaint
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			err = errors.New(text)
		}
		return "", fmt.Errorf("%s %s: %w", name, args[len(args)-1], err)
	}
	return out.String(), nil
}

// userName returns this user's name for logind.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

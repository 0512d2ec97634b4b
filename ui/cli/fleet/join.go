package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/remote/fleet"
	"tandem/persist/datadir"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewJoin returns the command join.
func NewJoin(f *factory.Factory) *cobra.Command {
	v := NewCommands(f)
	return &cobra.Command{
		Use: "join TOKEN", Short: "Join a fleet",
		Long: "Joins a fleet with the token printed by `tandem hub invite`. A key is created here and stays\n" +
			"here; config.toml gets the hub's address, and the engine connects to it.",
		Example:     "tandem join AW1…",
		Annotations: factory.Here.Annotations(),
		Args:        factory.Exactly(1, "which invitation? Give the token printed by `tandem hub invite`."), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error { return v.joinFleet(cmd.Context(), args[0]) },
	}
}

func (v *Commands) joinFleet(ctx context.Context, token string) error {
	i, err := fleet.ParseToken(token)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: %v", err).WithHint("copy the whole line printed by `tandem hub invite`")
	}
	c, err := v.f.Fleet.Load()
	if err != nil {
		return err
	}
	if err := checkJoin(c, i); err != nil {
		return err
	}
	joined, err := fleet.Join(i)
	if err != nil {
		return err
	}
	if c, err = v.writeMembership(c, joined); err != nil {
		return err
	}
	// This follows the credentials, because the engine reads them as soon as config.toml changes.
	if _, err := v.f.Fleet.Keep(c); err != nil {
		return err
	}
	self, err := v.awaitConnected(ctx, joined.User)
	if err != nil {
		return err
	}
	if self.Error != "" {
		v.f.Out.Tell("joined, but the hub cannot be reached yet: %s", output.Visible(self.Error))
	}
	return v.f.Out.Answer(self, func() string {
		if joined.Kind == fleet.KindMachine {
			return fmt.Sprintf("this machine is %s of the fleet at %s\n", joined.Name, output.Visible(i.Address))
		}
		return fmt.Sprintf("you are %s of the fleet at %s and may %s; `tandem fleet` lists the machines\n", joined.Name, output.Visible(i.Address), joined.Role)
	})
}

// checkJoin rejects a join that would replace another membership.
func checkJoin(c fleet.Config, i fleet.Invitation) error {
	switch {
	case c.Hub != "" && c.Hub != "tls://"+i.Address:
		return api.Errorf(api.CodeConflict, "join: this machine belongs to the fleet at %s", c.Hub).WithHint("`tandem leave` leaves it")
	case i.Kind == fleet.KindMachine && c.Machine != "":
		return api.Errorf(api.CodeConflict, "join: this machine has joined already").WithHint("`tandem leave` leaves the fleet")
	case i.Kind == fleet.KindPerson && c.Person != "":
		return api.Errorf(api.CodeConflict, "join: you have joined already").WithHint("`tandem leave` leaves the fleet")
	}
	return nil
}

// writeMembership stores the credentials of a new membership and adds them to c.
func (v *Commands) writeMembership(c fleet.Config, joined fleet.Membership) (fleet.Config, error) {
	folder, err := v.credentialsFolder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return c, fmt.Errorf("join: %w", err)
	}
	c.Hub, c.Authority = joined.Hub, filepath.Join(folder, "authority.pem")
	creds := filepath.Join(folder, string(joined.Kind)+".creds")
	if joined.Kind == fleet.KindMachine {
		c.Machine = creds
	} else {
		c.Person = creds
	}
	for path, text := range map[string][]byte{c.Authority: joined.Authority, creds: joined.Credentials} {
		if err := renameio.WriteFile(path, text, 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
			return c, fmt.Errorf("join: %w", err)
		}
	}
	return c, nil
}

func (v *Commands) credentialsFolder() (string, error) {
	dir, err := v.f.Machines.DataDir()
	return filepath.Join(dir, datadir.Fleet), err
}

const (
	// connectTimeout limits how long the engine may take to read the configuration and reach the
	// hub; pollInterval is how often to check.
	connectTimeout = 15 * time.Second
	pollInterval   = 50 * time.Millisecond
)

// awaitConnected waits until the engine is connected, but at most connectTimeout, and returns its
// last status.
func (v *Commands) awaitConnected(ctx context.Context, u fleet.User) (self api.FleetSelf, err error) {
	self = api.FleetSelf{Kind: string(u.Kind), Name: u.Name, Role: string(u.Role), Error: "the engine has not read config.toml yet"}
	err = v.awaitStatus(ctx, func(s api.FleetStatusOutput) bool {
		i := slices.IndexFunc(s.As, func(as api.FleetSelf) bool { return as.Kind == string(u.Kind) && as.Name == u.Name })
		if i >= 0 {
			self = s.As[i]
		}
		return i >= 0 && self.Error == ""
	})
	return self, err
}

// awaitStatus polls the engine's status in the fleet until done accepts it, but at most for
// connectTimeout.
func (v *Commands) awaitStatus(ctx context.Context, done func(api.FleetStatusOutput) bool) error {
	own, err := v.f.Connect(ctx)
	if err != nil {
		return err
	}
	defer own.Close()
	for end := time.Now().Add(connectTimeout); time.Now().Before(end); {
		s, err := api.FleetStatus.Call(ctx, own, api.Empty{})
		if err != nil || done(s) {
			return err
		}
		if err := sleep.For(ctx, pollInterval); err != nil {
			return err
		}
	}
	return nil
}

// NewLeave returns the command leave.
func NewLeave(f *factory.Factory) *cobra.Command {
	v := NewCommands(f)
	return &cobra.Command{
		Use: "leave", Short: "Leave the fleet",
		Long:        "Leaves the fleet: the engine disconnects, and the keys here are deleted. Programs keep running.\nThe hub still has the name; `tandem hub revoke` there removes it.",
		Example:     "tandem leave",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return v.leaveFleet(cmd.Context()) },
	}
}

func (v *Commands) leaveFleet(ctx context.Context) error {
	c, err := v.f.Fleet.Load()
	if err != nil {
		return err
	}
	if c.Hub == "" {
		return api.Errorf(api.CodeNotFound, "leave: this machine belongs to no fleet")
	}
	// This comes first, so that the engine no longer uses the keys when they are deleted.
	if _, err := v.f.Fleet.Keep(fleet.Config{}); err != nil {
		return err
	}
	folder, err := v.credentialsFolder()
	if err != nil {
		return err
	}
	// Files elsewhere are not ours to delete.
	for _, path := range []string{c.Machine, c.Person} {
		if filepath.Dir(path) == folder {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("leave: %w", err)
			}
		}
	}
	if err := v.awaitStatus(ctx, func(s api.FleetStatusOutput) bool { return s.Hub == "" }); err != nil {
		return err
	}
	return v.f.Out.Answer(map[string]string{"hub": c.Hub}, func() string { return "left the fleet at " + output.Visible(c.Hub) + "\n" })
}

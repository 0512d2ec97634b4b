package machines

import (
	"context"
	"net"
	"os"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/remote/hosts/bridge"
	"tandem/engine/remote/hosts/transport"
	"tandem/ui/cli/factory"
)

// NewBridge returns the command bridge.
func NewBridge(f *factory.Factory) *cobra.Command {
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "bridge [--read-only]",
		Short: "Connect standard input and output to this machine's engine",
		Long: "Connects standard input and output to this machine's engine, starting it if necessary. Other\n" +
			"machines run it over ssh; it is not meant to be typed. In authorized_keys, a key can be restricted\n" +
			"to this command, and to reading.",
		Example:     "restrict,command=\"/home/me/.local/bin/tandem bridge --read-only\" ssh-ed25519 AAAA…",
		Annotations: factory.Here.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveBridge(cmd.Context(), f.Version, readOnly)
		},
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "allow clients to read, but not to change anything")
	return cmd
}

// serveBridge runs the bridge until its input ends. It writes nothing else to standard output.
func serveBridge(ctx context.Context, version string, readOnly bool) error {
	named := client.Options{Version: version, Name: "bridge"}
	return bridge.Serve(ctx, bridge.Options{
		ReadOnly: readOnly,
		Info: func(ctx context.Context) (api.Info, error) {
			c, err := client.Activate(ctx, named)
			if err != nil {
				return api.Info{}, err
			}
			defer c.Close()
			return api.EngineInfo.Call(ctx, c, api.Empty{})
		},
		Open: func(ctx context.Context, to api.OpenOptions) (net.Conn, error) {
			conn, _, err := client.Open(ctx, named, to)
			return conn, err
		},
	}, transport.Pipes{Reader: os.Stdin, Writer: os.Stdout, Hangup: os.Stdin.Close})
}

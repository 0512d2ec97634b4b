// Package files implements the command files: it opens the dashboard at a folder of this or another
// machine, or prints the folder's entries as a table.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/units"
	"tandem/ui/cli/output"
)

// A Verb implements `tandem files`.
type Verb struct {
	Out     *output.Printer
	Connect func(context.Context) (*client.Client, error)
	Host    func() string                           // returns the machine to work on, "" for this one
	Folder  func(cwd string) (path string, _ error) // makes a folder on that machine absolute
	// Open opens the dashboard at a folder, with the cursor on name. If printLast is set, it prints
	// the last folder shown there.
	Open func(_ context.Context, folder, name string, printLast, nested bool) error

	cd, list, hidden, nested bool
}

// Command returns the command files. The caller limits it to one argument.
func (v *Verb) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "files [PATH] [--cd] [--list]",
		Short: "Open the dashboard at its files; --cd prints the folder you leave it in",
		Long: "Opens the dashboard at the files of a folder (default: this one), or with the cursor on a file.\n" +
			"--list and --json print what is in the folder instead. With --host they are the files of another\n" +
			"machine, and the default is the home folder there.\n" +
			"With --cd it prints the folder that you leave it in, for a shell function that goes there:\n\n" +
			"  tcd() { local dir; dir=$(tandem files --cd \"$@\") && cd -- \"$dir\"; }      # bash, zsh\n" +
			"  function tcd; set -l dir (tandem files --cd $argv); and cd -- $dir; end   # fish",
		Example: "tandem files ~/src\ncd \"$(tandem files --cd)\"\ntandem --host box files /srv\ntandem files --list --host box /srv",
		RunE:    v.run,
	}
	cmd.Flags().BoolVar(&v.cd, "cd", false, "print the folder that you leave it in")
	cmd.Flags().BoolVarP(&v.list, "list", "l", false, "print what is in the folder; open nothing")
	cmd.Flags().BoolVarP(&v.hidden, "all", "a", false, "with --list: include names that begin with a dot")
	cmd.Flags().BoolVar(&v.nested, "nested", false, "open it in a session of another data folder")
	return cmd
}

func (v *Verb) run(cmd *cobra.Command, args []string) error {
	path, err := v.resolvePath(args)
	if err != nil {
		return err
	}
	list := v.list || v.Out.JSON
	switch {
	case v.cd && list:
		return output.Usagef(cmd, "give --cd or --list, not both")
	case v.cd && v.Host() != "":
		return output.Usagef(cmd, "--cd is for a shell on this machine, which cannot go to a folder of %s", v.Host())
	case list:
		return v.printList(cmd.Context(), path)
	}
	folder, name, err := v.splitPath(cmd.Context(), path)
	if err != nil {
		return err
	}
	return v.Open(cmd.Context(), folder, name, v.cd, v.nested)
}

// resolvePath returns the absolute path of the file or folder to show. On another machine it may
// begin with ~/ instead.
func (v *Verb) resolvePath(args []string) (string, error) {
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	switch {
	case v.Host() == "":
	case path == "" || path == "~":
		return "~/", nil
	case strings.HasPrefix(path, "~/"):
		return path, nil
	}
	return v.Folder(path)
}

// splitPath splits path into a folder for the files view, and a file in it, if path is not a folder
// itself.
func (v *Verb) splitPath(ctx context.Context, path string) (folder, name string, err error) {
	if v.Host() == "" {
		return splitLocal(path)
	}
	info, err := callEngine(ctx, v, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return "", "", err
	}
	if isFolder(info) {
		return api.PathOn(v.Host(), info.Path), "", nil
	}
	return api.PathOn(v.Host(), filepath.Dir(info.Path)), filepath.Base(info.Path), nil
}

func splitLocal(path string) (folder, name string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", api.Errorf(api.CodeNotFound, "open files: %s does not exist", output.Visible(path))
	case err != nil:
		return "", "", fmt.Errorf("open files: %w", err)
	case info.IsDir():
		return path, "", nil
	}
	return filepath.Dir(path), filepath.Base(path), nil
}

func isFolder(info api.FileInfo) bool { return info.Type == "dir" || info.ToDir }

// callEngine calls an operation on the machine's engine. It reconnects if the link fails.
func callEngine[In, Answer any](ctx context.Context, v *Verb, op api.Operation[In, Answer], in In) (Answer, error) {
	conn, err := retry.Connect(ctx, v.Connect)
	if err != nil {
		var none Answer
		return none, err
	}
	defer conn.Close()
	// Do not wait for an offline machine.
	conn.Hasty = true
	return op.Call(ctx, conn, in)
}

// printList prints a folder's entries, or a single file.
func (v *Verb) printList(ctx context.Context, path string) error {
	info, err := callEngine(ctx, v, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return err
	}
	entries := []api.FileInfo{info}
	if isFolder(info) {
		out, err := callEngine(ctx, v, api.FilesList, api.FilesListInput{Path: path, Hidden: v.hidden})
		if err != nil {
			return err
		}
		entries = out.Entries
	}
	return output.AnswerList(*v.Out, entries, "nothing is in "+output.Visible(info.Path), func() string { return v.formatTable(entries) })
}

func (v *Verb) formatTable(entries []api.FileInfo) string {
	t := v.Out.Table("MODE", "SIZE", "MODIFIED", "NAME")
	t.Spare = []string{"MODE", "MODIFIED"}
	for _, e := range entries {
		bytes, name, tint := "-", output.Visible(e.Name), output.Plain
		switch e.Type {
		case "file":
			bytes = units.Bytes(e.Size)
		case "dir":
			name, tint = name+"/", output.Strong
		case "link":
			name += " -> " + output.Visible(e.Target)
		}
		t.Add(output.Text(e.Mode), output.Text(bytes), output.Text(e.Modified.In(time.Local).Format("2006-01-02 15:04")), output.Tinted(name, tint))
	}
	return t.String()
}

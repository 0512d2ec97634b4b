package role

import (
	"os"
	"path/filepath"
)

// secrets are files and folders in the home folder with keys, passwords and tokens.
var secrets = []string{
	// Keys and passwords.
	".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".config/op", ".config/sops", ".vault-token",
	".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".config/git/credentials",
	// Browsers and mail.
	".mozilla", ".librewolf", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium",
	".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium",
	// Clouds.
	".aws", ".azure", ".config/gcloud", ".oci", ".kube", ".docker/config.json", ".config/containers/auth.json",
	".config/doctl", ".config/hcloud", ".config/rclone", ".terraform.d/credentials.tfrc.json",
	// Code hosts and package registries.
	".config/gh/hosts.yml", ".config/hub", ".config/glab-cli", ".npmrc", ".pypirc",
	".cargo/credentials.toml", ".cargo/credentials", ".gem/credentials", ".m2/settings.xml", ".config/composer/auth.json",
}

// findSecrets returns the secrets that exist.
func findSecrets(home string) []string {
	found := []string{}
	for _, name := range secrets {
		path := filepath.Join(home, name)
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

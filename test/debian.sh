# debian.sh: systems of their own by debootstrap, which test/packages and test/versions share.
# Sourced, as root.

export DEBIAN_FRONTEND=noninteractive

# needs_packages CALLER PACKAGE...: installs what is missing.
needs_packages()
{
	local caller=$1 states
	shift
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		echo "$caller: must be run as root, on a system with apt-get" >&2
		return 1
	fi
	# of a package that is known without being there, dpkg-query has a line, too
	if ! states=$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null) || grep -qvx installed <<<"$states"; then
		echo "$caller: installing $*"
		apt-get update -qq && apt-get install -qy --no-install-recommends "$@" >/dev/null
	fi
}

# The project's files alone: what is built in this checkout would be taken for the copy's.
copy_sources()
{
	mkdir -p "$1" && git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - | tar -C "$1" -xf -
}

# debian_system FOLDER RELEASE: a Debian with its updates, which starts no server by itself, and
# this checkout's sources in /srv/gpuagg.
debian_system()
{
	local folder=$1 release=$2 mirror=http://deb.debian.org script=

	# a release may be younger than this system's debootstrap
	[ -e "/usr/share/debootstrap/scripts/$release" ] || script=/usr/share/debootstrap/scripts/sid
	debootstrap --variant=minbase "$release" "$folder" $mirror/debian $script || return
	cat >"$folder/etc/apt/sources.list" <<-END
		deb $mirror/debian $release main
		deb $mirror/debian $release-updates main
		deb $mirror/debian-security $release-security main
	END
	# mirrors may lag behind
	echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/90lag"
	printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
	chmod 755 "$folder/usr/sbin/policy-rc.d"
	mkdir -p "$folder/etc/postgresql-common"
	echo "create_main_cluster = false" >"$folder/etc/postgresql-common/createcluster.conf"
	copy_sources "$folder/srv/gpuagg"
}

# in_debian FOLDER COMMANDS: runs them there; what they start ends with them.
in_debian()
{
	unshare --mount --pid --fork --kill-child chroot "$1" sh -ec "
		mount -t proc proc /proc
		mount -t tmpfs tmpfs /dev/shm
		chmod 1777 /dev/shm
		cd /srv/gpuagg
		$2"
}
export -f copy_sources debian_system in_debian

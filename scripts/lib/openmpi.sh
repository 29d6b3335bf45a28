# scripts/lib/openmpi.sh - carries the distribution's OpenMPI in a bundle, for nodes that have none.
# shellcheck shell=bash

# Fabrics and tools that would carry many more libraries; shared memory and TCP stay.
readonly left_out_plug_ins='_(ucx|ofi|psm2?|openib|verbs|flux|monitoring|romio321)\.so$|_(memheap|spml|sshmem|atomic)_'
readonly left_out="$left_out_plug_ins"'|\.(a|la)$|/(doc|man|locale)/'

# copy_openmpi FOLDER: commands, plug-ins and help texts of OpenMPI and PMIx below FOLDER/usr, as they lie in /usr.
# OPAL_PREFIX then points there: scripts/lib/salient-env.sh. Needs copy_libraries of bundle.sh.
copy_openmpi() {
  local package file
  for package in openmpi-bin openmpi-common libopenmpi3 libopenmpi40 libopenmpi3t64 libopenmpi40t64 libpmix2 \
    libpmix2t64; do
    while read -r file; do
      [ -f "$file" ] && [[ ! $file =~ $left_out ]] || continue
      case $file in
        /usr/bin/orterun | /usr/bin/orted | /usr/bin/prterun | /usr/bin/prted) ;;
        */openmpi3/*.so | */openmpi/*.so | */pmix/*.so) ;;
        *) continue ;;
      esac
      [ -d "$1${file%/*}" ] || mkdir -p "$1${file%/*}"
      cp -L "$file" "$1$file"
      copy_libraries "$file"
    done < <(dpkg -L "$package" 2>/dev/null)
  done
  mkdir -p "$1/usr/share"
  for file in /usr/share/openmpi /usr/share/pmix; do
    [ ! -d "$file" ] || cp -rL "$file" "$1/usr/share/"
  done
  [ -x "$1/usr/bin/orterun" ] || die 66 "--with-mpi carries OpenMPI 4, which is not installed here as openmpi-bin"
}

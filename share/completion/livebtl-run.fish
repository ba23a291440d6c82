# SPDX-License-Identifier: BSD-3-Clause
# Completion of livebtl-run in fish: its options, as the program says, then a command line of its own.
function __livebtl_run_complete
    set -l words (commandline -opc)
    for line in ($words[1] __complete $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null)
        switch $line
            case :command
                __fish_complete_subcommand --fcs-skip=1
            case '*'
                echo $line
        end
    end
end
complete -c livebtl-run -f -a '(__livebtl_run_complete)'

# SPDX-License-Identifier: BSD-3-Clause
# Completion of btlperf in fish: asks the program (perf/complete.h), and knows nothing of it.
function __btlperf_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case :files :command
                __fish_complete_path (string replace -r '^--[a-z-]*=' '' -- "$word")
            case :directories
                __fish_complete_directories (string replace -r '^--[a-z-]*=' '' -- "$word") ''
            case '*'
                echo $line
        end
    end
end
complete -c btlperf -f -a '(__btlperf_complete)'

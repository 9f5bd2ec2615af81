def print_flows(answer, console):
    console.print(answer)

from core.flows.answer import *
def find_findings(connections, topology, flows, groups, timeline, named):
    return (), []

/// The strongly connected components of a directed graph: nodes that all lead to each other are one component, and
/// every other node is one of its own. Each component leads only to earlier ones. It works without recursion, so that
/// the graph may have any depth (Tarjan's algorithm).
struct ComponentOrder {
    /// The nodes by component.
    private(set) var components: [[Int]] = []
    /// The component of each node; -1 for a node that is not reachable from a root.
    private(set) var component: ContiguousArray<Int>

    /// - Parameters:
    ///   - count: how many nodes there are.
    ///   - roots: the nodes to begin with. Nodes that are not reachable from them are left out.
    ///   - successors: the nodes that a node leads to.
    init(count: Int, roots: some Sequence<Int>, successors: (Int) -> [Int]) {
        component = ContiguousArray(repeating: -1, count: count)
        var search = Search(count: count)
        for root in roots where search.index[root] < 0 {
            search.enter(root, successors)
            while let frame = search.frames.last {
                if frame.next < frame.successors.count {
                    search.frames[search.frames.count - 1].next += 1
                    let target = frame.successors[frame.next]
                    if search.index[target] < 0 {
                        search.enter(target, successors)
                    } else if search.isOpen[target] {
                        search.low[frame.node] = min(search.low[frame.node], search.index[target])
                    }
                    continue
                }
                search.frames.removeLast()
                if let parent = search.frames.last?.node {
                    search.low[parent] = min(search.low[parent], search.low[frame.node])
                }
                guard search.low[frame.node] == search.index[frame.node] else { continue }
                let members = search.close(frame.node)
                for member in members { component[member] = components.count }
                components.append(members)
            }
        }
    }

    /// Tarjan's bookkeeping.
    private struct Search {
        struct Frame {
            let node: Int
            let successors: [Int]
            var next = 0
        }

        var index: ContiguousArray<Int>
        var low: ContiguousArray<Int>
        var isOpen: ContiguousArray<Bool>
        var frames: [Frame] = []
        private var open: [Int] = []
        private var count = 0

        init(count: Int) {
            index = ContiguousArray(repeating: -1, count: count)
            low = index
            isOpen = ContiguousArray(repeating: false, count: count)
        }

        mutating func enter(_ node: Int, _ successors: (Int) -> [Int]) {
            index[node] = count
            low[node] = count
            count += 1
            open.append(node)
            isOpen[node] = true
            frames.append(Frame(node: node, successors: successors(node)))
        }

        /// Takes the component that begins with a node from the open nodes.
        mutating func close(_ first: Int) -> [Int] {
            var members: [Int] = []
            while let node = open.popLast() {
                isOpen[node] = false
                members.append(node)
                if node == first { break }
            }
            return members
        }
    }
}

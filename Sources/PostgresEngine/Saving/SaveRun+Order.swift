extension SaveRun {
    /// Positions in the order of the rows' keys: programs that write the same rows in the same order wait for one
    /// another. In different orders they would block one another, until the server ends one of them after a second.
    static func inOrder(_ positions: [Int], key: (Int) -> Int64) -> [Int] {
        let isOrdered = zip(positions, positions.dropFirst()).allSatisfy { key($0) <= key($1) }
        return isOrdered ? positions : positions.sorted { key($0) < key($1) }
    }
}

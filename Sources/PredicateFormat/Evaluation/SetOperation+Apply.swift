import CompactCollections

extension SetOperation {
    /// The elements of the result, each once, in order.
    func apply(to first: Value, _ second: Value) -> Value {
        guard let first = first.elements, let second = second.elements else { return .null }
        let others = Set(second)
        switch self {
        case .union: return .collection(once(first + second) { _ in true })
        case .intersect: return .collection(once(first, where: others.contains))
        case .minus: return .collection(once(first) { !others.contains($0) })
        }
    }

    private func once(_ values: [Value], where isWanted: (Value) -> Bool) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { isWanted($0) && seen.insert($0).inserted }
    }
}

import CompactCollections
import Ordering

/// The order in which the versions of a model were made, as far as their names show it. Pure.
enum VersionOrder {
    /// The names in order, if they share a prefix followed by numbers, like Xcode's: `Model`, `Model 2`, `Model 10`, or
    /// `v1.2`, `v1.10`.
    ///
    /// - Returns: `nil` if the names show no order.
    static func sorted(_ names: [String]) -> [String]? {
        let beginning = commonBeginning(names)
        var numbered: [(name: String, numbers: [Int])] = []
        for name in names {
            let rest = name.dropFirst(beginning)
            let numbers = rest.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
            guard !numbers.isEmpty || rest.isEmpty else { return nil }
            numbered.append((name, numbers))
        }
        let sorted = numbered.ordered { $0.numbers.lexicographicallyPrecedes($1.numbers) }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.numbers == second.numbers { return nil }
        return sorted.map(\.name)
    }

    /// The length of the names' common prefix, without splitting a number.
    private static func commonBeginning(_ names: [String]) -> Int {
        guard var beginning = names.first else { return 0 }
        for name in names {
            while !name.hasPrefix(beginning) { beginning.removeLast() }
        }
        let cutsNumber = names.contains { name in name.dropFirst(beginning.count).first?.isNumber ?? false }
        while cutsNumber, beginning.last?.isNumber ?? false { beginning.removeLast() }
        return beginning.count
    }
}

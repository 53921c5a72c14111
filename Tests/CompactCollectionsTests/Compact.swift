// The same text as in Reference.swift: what it calls is decided by this import.
import CompactCollections

enum Compact {
    static func sequences(_ numbers: [Int]) -> [[Int]] {
        [
            numbers.map { $0 * 2 }, numbers.lazy.reversed().map { $0 + 1 }, Set(numbers).map { $0 }.sorted(),
            numbers.compactMap { $0 % 3 == 0 ? nil : $0 }, numbers.flatMap { [$0, -$0] },
            numbers.filter { $0 % 2 == 0 }, AnySequence(numbers).filter { $0 > 5 },
            [numbers.contains { $0 == 7 } ? 1 : 0, numbers.allSatisfy { $0 < 15 } ? 1 : 0],
            [numbers.first { $0 > 9 }, numbers.firstIndex { $0 > 9 }].map { $0 ?? -1 },
            numbers.enumerated().sorted { $0.element % 4 < $1.element % 4 }.map(\.offset), removing(numbers),
        ]
    }

    private static func removing(_ numbers: [Int]) -> [Int] {
        var left = numbers
        left.removeAll { $0 % 5 == 1 }
        return left
    }

    static func dictionaries(_ numbers: [Int]) -> [[Int: [Int]]] {
        let pairs = numbers.enumerated().map { ($0.element, [$0.offset]) }
        let merged = Dictionary(pairs, uniquingKeysWith: +)
        return [
            merged, Dictionary(pairs) { first, _ in first }, Dictionary(grouping: numbers) { $0 % 4 },
            Dictionary(uniqueKeysWithValues: Set(numbers).map { ($0, [$0]) }), merged.mapValues { $0 + [0] },
            merged.compactMapValues { $0.count > 1 ? $0 : nil }, merged.filter { $0.key % 2 == 0 }, changed(numbers),
        ]
    }

    /// A dictionary that was changed in all ways.
    static func changed(_ numbers: [Int]) -> [Int: [Int]] {
        var changed: [Int: [Int]] = [:]
        for (place, number) in numbers.enumerated() {
            switch place % 7 {
            case 0: changed[number] = [place]
            case 1: changed[number]?.append(place)
            case 2: changed[number, default: [-1]].append(place)
            case 3: changed[number] = nil
            case 4: changed[place] = changed.updateValue([place], forKey: number)
            case 5: changed[place] = changed.removeValue(forKey: number)
            default: changed[-1] = changed[number, default: [place]] + (changed[number] ?? [])
            }
        }
        return changed
    }

    static func sets(_ one: [Int], _ other: [Int]) -> [Set<Int>] {
        var both = Set(one)
        both.formUnion(other)
        return [
            Set(one), Set(Set(one)), Set(one).union(other), both, Set(one).subtracting(Set(other)),
            Set(one).subtracting(other),
        ]
    }
}

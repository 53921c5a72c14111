import Synchronization

/// Caches the most recently used patterns, which are usually used again for the next row.
final class PatternCache<Pattern: Sendable>: Sendable {
    private struct Key: Hashable {
        let pattern: LiteralString
        let options: StringOptions
    }

    private let patterns = Mutex<[Key: Pattern]>([:])
    private let limit = 100

    func pattern(
        _ pattern: String, _ options: StringOptions, _ make: (String, StringOptions) -> Pattern?
    ) -> Pattern? {
        let key = Key(pattern: LiteralString(pattern), options: options)
        if let found = patterns.withLock({ $0[key] }) { return found }
        guard let made = make(pattern, options) else { return nil }
        patterns.withLock { patterns in
            if patterns.count >= limit { patterns.removeAll() }
            patterns[key] = made
        }
        return made
    }
}

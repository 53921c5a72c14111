import PredicateFormat
import Testing

@Suite("Any predicate")
struct RandomPredicateTests {
    @Test("printed and parsed again says the same", arguments: 0..<20)
    func roundTrip(seed: UInt64) throws {
        var random = RandomTrees(seed: seed)
        for _ in 0..<200 {
            let tree = random.predicate(depth: 4)
            let format = tree.format
            let parsed = try? predicateTree(parsing: format)
            #expect(parsed == tree, "seed \(seed): \(format)")
            #expect(parsed?.hashValue == tree.hashValue)
        }
    }

    @Test("says the same if made of what predicateFormat shows, whatever kind of values it compares", arguments: 0..<20)
    func shownRoundTrip(seed: UInt64) throws {
        var random = RandomTrees(seed: seed)
        func comparison() -> PredicateTree {
            let key = ExpressionTree.keyPath(["a"])
            let value = ExpressionTree.constant(random.value(depth: 0))
            let list = ExpressionTree.constant(.collection((0..<3).map { _ in random.value(depth: 1) }))
            let trees = [
                ComparisonTree(key, .equalTo, value), ComparisonTree(value, .notEqualTo, key),
                ComparisonTree(key, .in, list),
            ]
            return .comparison(random.pick(trees))
        }
        for _ in 0..<200 {
            let parts = (0..<3).map { _ in comparison() }
            let predicate = makePredicate(random.pick([parts[0], .and(parts), .or(parts), .not(parts[0])]))
            let shown = "\(predicate)"
            let parsed = try NSPredicate(parsing: shown)
            #expect("\(parsed)" == shown, "seed \(seed)")
            #expect(try predicateTree(of: parsed) == predicateTree(of: predicate), "seed \(seed): \(shown)")
        }
    }

    @Test("parses or throws with some of its characters changed, and does not stop the program", arguments: 0..<20)
    func damage(seed: UInt64) throws {
        var random = RandomTrees(seed: seed)
        let scraps = Array("()[]{}'\"\\%@K$#.,:!=<>&|+-*/^~ 019aZé🍏\0\n")
        for _ in 0..<200 {
            var characters = Array(random.predicate(depth: 3).format)
            for _ in 0..<random.number(below: 4) + 1 {
                let position = random.number(below: characters.count)
                if random.number(below: 2) == 0 {
                    characters[position] = random.pick(scraps)
                } else {
                    characters.insert(random.pick(scraps), at: position)
                }
            }
            let format = String(characters)
            do {
                let tree = try predicateTree(parsing: format)
                #expect(try predicateTree(parsing: tree.format) == tree, "\(format)")
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}

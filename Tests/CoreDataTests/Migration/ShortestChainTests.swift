import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("The shortest chain of steps")
struct ShortestChainTests {
    private func chain(
        _ count: Int = 4, from start: Int = 0, to end: Int = 3, isOrdered: Bool = true, mapped: [(Int, Int)] = [],
        inferred: [(Int, Int)]? = nil
    ) -> [String]? {
        let inferable = inferred.map { Set($0.map { ShortestChain.Hop(from: $0.0, to: $0.1) }) }
        let chain = ShortestChain(
            count: count, isOrdered: isOrdered, mapped: Set(mapped.map { ShortestChain.Hop(from: $0.0, to: $0.1) })
        ) { inferable?.contains($0) ?? true }
        return chain.hops(from: start, to: end)?.map { "\($0.from)>\($0.to)" }
    }

    @Test("One inferred step, where that suffices")
    func direct() { #expect(chain() == ["0>3"]) }

    @Test("A mapping model is not passed over")
    func mappedBetween() {
        #expect(chain(mapped: [(1, 2)]) == ["0>1", "1>2", "2>3"])
        #expect(chain(mapped: [(0, 1)]) == ["0>1", "1>3"])
        #expect(chain(mapped: [(2, 3)]) == ["0>2", "2>3"])
    }

    @Test("A mapping model for the whole way is shorter than those for its parts")
    func mappedDirectly() { #expect(chain(mapped: [(0, 3), (0, 1), (1, 2)]) == ["0>3"]) }

    @Test("A mapping model is passed over where there is no other way")
    func unavoidable() { #expect(chain(mapped: [(1, 2)], inferred: [(0, 3)]) == ["0>3"]) }

    @Test("What cannot be inferred in one step is gone over the versions between")
    func around() {
        #expect(chain(inferred: [(0, 1), (1, 2), (2, 3), (0, 2)]) == ["0>2", "2>3"])
        #expect(chain(inferred: [(0, 1), (2, 3)]) == nil)
    }

    @Test("No step leads back, or beyond the version to get to")
    func forward() {
        #expect(chain(from: 2, to: 1) == nil)
        #expect(chain(from: 0, to: 1, mapped: [(1, 2), (2, 1)]) == ["0>1"])
    }

    @Test("Without an order, mapping models that begin or end where a step does go first")
    func unordered() {
        #expect(chain(from: 3, to: 0, isOrdered: false) == ["3>0"])
        #expect(chain(isOrdered: false, mapped: [(0, 2)]) == ["0>2", "2>3"])
    }

    /// How many steps are looked at over 120 versions, and the way that is found.
    private func asked(
        mapped: [(Int, Int)] = [], canInfer: (ShortestChain.Hop) -> Bool
    ) -> (count: Int, hops: [ShortestChain.Hop]?) {
        var count = 0
        let chain = withoutActuallyEscaping(canInfer) { canInfer in
            ShortestChain(
                count: 120, isOrdered: true, mapped: Set(mapped.map { ShortestChain.Hop(from: $0.0, to: $0.1) })
            ) { hop in
                count += 1
                return canInfer(hop)
            }.hops(from: 2, to: 119)
        }
        return (count, chain)
    }

    @Test("Over 120 versions, what is inferred is on the way: the direct step first, and each one once")
    func fewInferences() {
        let direct = asked { _ in true }
        #expect(direct.hops == [.init(from: 2, to: 119)])
        #expect(direct.count == 1)

        let mapped = asked(mapped: [(40, 41), (80, 81)]) { _ in true }
        #expect(mapped.hops?.map(\.to) == [40, 41, 80, 81, 119])
        #expect(mapped.count == 3)

        // Nothing can be inferred across version 60, but into it and out of it.
        let around = asked { $0.to <= 60 || $0.from >= 60 }
        #expect(around.hops == [.init(from: 2, to: 60), .init(from: 60, to: 119)])
        #expect(around.count < 2 * 120)

        // No step leads over the gap, which takes a look at those that would.
        let none = asked { $0.to <= 60 || $0.from > 60 }
        #expect(none.hops == nil)
        #expect(none.count <= 120 + 60 * 60)
    }

    @Test("The way is the cheapest of all, whatever can be inferred", arguments: 0..<40)
    func optimal(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let count = 7
        let all = (0..<count).flatMap { from in ((from + 1)..<count + 1).filter { $0 < count }.map { (from, $0) } }
        func hops(_ isChosen: () -> Bool) -> Set<ShortestChain.Hop> {
            Set(all.filter { _ in isChosen() }.map { ShortestChain.Hop(from: $0.0, to: $0.1) })
        }
        let inferable = hops { numbers.number(below: 3) > 0 }
        let mapped = hops { numbers.number(below: 5) == 0 }
        let chain = ShortestChain(count: count, isOrdered: true, mapped: mapped) { inferable.contains($0) }
        func cost(_ hops: [ShortestChain.Hop]) -> [Int] {
            let inferred = hops.filter { !mapped.contains($0) }
            let passed = inferred.map { hop in mapped.filter { hop.from <= $0.from && $0.to <= hop.to }.count }
            return [passed.reduce(0, +), hops.count, inferred.count]
        }
        /// Every way, by brute force.
        func ways(from start: Int) -> [[ShortestChain.Hop]] {
            if start == count - 1 { return [[]] }
            return ((start + 1)..<count).flatMap { next -> [[ShortestChain.Hop]] in
                let hop = ShortestChain.Hop(from: start, to: next)
                guard mapped.contains(hop) || inferable.contains(hop) else { return [] }
                return ways(from: next).map { [hop] + $0 }
            }
        }
        let best = ways(from: 0).map(cost).min { $0.lexicographicallyPrecedes($1) }
        #expect(chain.hops(from: 0, to: count - 1).map(cost) == best)
    }

    @Test(
        "Names tell the order where they go on with numbers",
        arguments: [
            (["Model 2", "Model", "Model 10"], ["Model", "Model 2", "Model 10"]),
            (["Users", "Users_v3", "Users_v2"], ["Users", "Users_v2", "Users_v3"]),
            (["v1.10", "v1.2", "v1"], ["v1", "v1.2", "v1.10"]),
            (["Model 1", "Model 10", "Model 100"], ["Model 1", "Model 10", "Model 100"]),
            (["Initial", "WithMakers"], nil), (["Alone"], ["Alone"]),
        ])
    func order(_ names: [String], _ expected: [String]?) { #expect(VersionOrder.sorted(names) == expected) }
}

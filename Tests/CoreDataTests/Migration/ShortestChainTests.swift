import Testing

@testable import CoreData

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

import Pippin
import Foundation
import Testing

private struct Link: CoreModel, Equatable {
    let id: Int
    var next: [Link] = []
    var other: Reference<Link>?
}

@Suite("A filter that looks at a model with many models in it")
struct DeepMatchingTests {
    @Test("follows what it reads only, however deep the others are")
    func deep() throws {
        let chain = (1..<9_000).reduce(Link(id: 0)) { Link(id: $1, next: [$0]) }
        #expect(try (\Link.id == 8_999).matches(chain))
        #expect(try Filter<Link>.any(\.next, \.id == 8_998).matches(chain))
        #expect(try Filter<Link>.any(\.next, .any(\.next, \.id == 8_997)).matches(chain))
        #expect(try Filter<Link>.format("ANY next.next.id == 8997").matches(chain))
        #expect(try Filter<Link>.format("SUBQUERY(next, $a, ANY $a.next.id == 8997).@count == 1").matches(chain))
        #expect(try !Filter<Link>.format("next.@count == 0 OR other != nil").matches(chain))
        #expect(try Filter<Link>.format("next.@max.id == 8998").matches(chain))
        #expect(try Filter<Link>.format("FUNCTION(FUNCTION(id, 'stringValue'), 'length') == 4").matches(chain))
        #expect(try Filter<Link>.matching(#Predicate { $0.next.contains { $0.id == 8_998 } }).matches(chain))
    }

    @Test("takes no longer where models are shared")
    func shared() throws {
        var level = [Link(id: 0), Link(id: 1)]
        for index in 1..<30 { level = [Link(id: 2 * index, next: level), Link(id: 2 * index + 1, next: level)] }
        #expect(try (\Link.id == 58).matches(level[0]))
        #expect(try !Filter<Link>.any(\.next, \.id == 0).matches(level[0]))
        #expect(try Filter<Link>.format("FUNCTION(id, 'stringValue') == '58'").matches(level[0]))
        #expect(try Filter<Link>.any(\.next, .any(\.next, \.id == 54)).matches(level[0]))
    }
}

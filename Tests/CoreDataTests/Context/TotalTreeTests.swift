@testable import CoreData
import TestSupport
import Testing

@Suite("A total of parts at places")
struct TotalTreeTests {
    @Test("is that of the present parts, in the order of their places", arguments: 0..<50)
    func totals(seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        var tree = TotalTree<String>()
        var parts: [String?] = []
        for step in 0..<100 {
            let part: String? = Bool.random(using: &random) ? "\(step) " : nil
            let place = Int.random(in: 0...parts.count, using: &random)
            if place == parts.count { parts.append(part) } else { parts[place] = part }
            tree.set(part, at: place, +)
            #expect(tree.total ?? "" == parts.compactMap(\.self).joined())
        }
    }

    @Test("is nil without parts")
    func empty() {
        var tree = TotalTree<Int>()
        #expect(tree.total == nil)
        tree.set(nil, at: 0, +)
        #expect(tree.total == nil)
    }

    @Test("takes as many steps for a changed part as the number of parts has binary digits")
    func steps() {
        var tree = TotalTree<Int>()
        for place in 0..<1024 { tree.set(1, at: place, +) }
        var steps = 0
        tree.set(5, at: 300) { left, right in
            steps += 1
            return left + right
        }
        #expect(tree.total == 1028)
        #expect(steps == 10)
    }
}

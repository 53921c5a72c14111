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
            let changes = (0..<Int.random(in: 1...4, using: &random)).map { number -> (place: Int, part: String?) in
                let part: String? = Bool.random(using: &random) ? "\(step).\(number) " : nil
                let place = Int.random(in: 0...parts.count, using: &random)
                if place == parts.count { parts.append(part) } else { parts[place] = part }
                return (place, part)
            }
            tree.set(changes, +)
            #expect(tree.total ?? "" == parts.compactMap(\.self).joined())
        }
    }

    @Test("is nil without parts")
    func empty() {
        var tree = TotalTree<Int>()
        #expect(tree.total == nil)
        tree.set([(0, nil)], +)
        #expect(tree.total == nil)
    }

    @Test("takes as many steps for a changed part as the number of parts has binary digits, and one for each of many")
    func steps() {
        var tree = TotalTree<Int>()
        var steps = 0
        func add(_ left: Int, _ right: Int) -> Int {
            steps += 1
            return left + right
        }
        tree.set((0..<1024).map { ($0, 1) }, add)
        #expect(tree.total == 1024)
        #expect(steps == 1023)
        steps = 0
        tree.set([(300, 5)], add)
        #expect(tree.total == 1028)
        #expect(steps == 10)
    }
}

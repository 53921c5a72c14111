/// Draws at random, the same for the same seed.
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 on, below a limit.
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True so many times in a hundred.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Some of the elements, at most so many, in any order.
    mutating func some<Element>(of elements: [Element], atMost limit: Int) -> [Element] {
        Array(elements.shuffled(using: &self).prefix(below(limit + 1)))
    }
}

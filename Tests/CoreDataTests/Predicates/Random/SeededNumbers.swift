/// Draws at random, the same for the same seed.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) {
        state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1
        for _ in 0..<4 { _ = number(below: 2) }
    }

    mutating func number(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int((state >> 11) % UInt64(limit))
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// True once in so many times.
    mutating func once(in times: Int) -> Bool { number(below: times) == 0 }
}

import Foundation

/// Decisions made by the bytes of an input, one after the other; when there are none left, always the first one.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes)[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func number(below limit: Int) -> Int {
        let number = limit > 256 ? Int(byte()) << 16 | Int(byte()) << 8 | Int(byte()) : Int(byte())
        return limit > 0 ? number % limit : 0
    }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }
}

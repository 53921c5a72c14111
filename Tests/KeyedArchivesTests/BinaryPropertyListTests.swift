import Foundation
import ModelFiles
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    static let everyKind = PropertyList.dictionary([
        "yes": .boolean(true), "no": .boolean(false),
        "small": .integer(7), "byte": .integer(255), "short": .integer(65_535), "word": .integer(4_294_967_295),
        "long": .integer(Int64.max), "negative": .integer(-1), "huge": .unsignedInteger(UInt64.max),
        "real": .real(-1.25), "date": .date(Date(timeIntervalSinceReferenceDate: 500.5)),
        "data": .data(Data([0, 1, 254, 255])), "ascii": .string("pippin"), "unicode": .string("Äpfel 🍏"),
        "long text": .string(String(repeating: "x", count: 70_000)),
        "reference": .uid(70_000), "array": .array([.integer(7), .array([]), .dictionary([:])]),
    ])

    @Test("Every kind of value reads back as it was written")
    func roundTrip() throws {
        let read = try PropertyList(binary: Self.everyKind.binaryData())
        #expect(read == Self.everyKind)
    }

    @Test("Foundation reads what is written, and what Foundation writes is read")
    func foundationAgrees() throws {
        var dictionary = try #require(Self.everyKind.dictionaryValue)
        dictionary["reference"] = nil
        dictionary["huge"] = nil
        let list = PropertyList.dictionary(dictionary)
        let theirs = try PropertyListSerialization.propertyList(from: list.binaryData(), format: nil)
        let fields = try #require(theirs as? [String: Any])
        #expect(fields["unicode"] as? String == "Äpfel 🍏")
        #expect(fields["negative"] as? Int == -1)
        #expect(fields["date"] as? Date == Date(timeIntervalSinceReferenceDate: 500.5))

        let written = try PropertyListSerialization.data(fromPropertyList: fields, format: .binary, options: 0)
        #expect(try PropertyList(binary: written) == list)
    }

    @Test("Equal scalars are written once, strings that only look equal are not merged")
    func uniquing() throws {
        let composed = PropertyList.string("\u{E9}")
        let decomposed = PropertyList.string("e\u{301}")
        let twice = try PropertyList.array([composed, composed]).binaryData()
        let once = try PropertyList.array([composed]).binaryData()
        #expect(twice.count == once.count + 1)
        let both = try PropertyList(binary: PropertyList.array([composed, decomposed]).binaryData())
        let lengths = both.arrayValue?.map { $0.stringValue?.unicodeScalars.count }
        #expect(lengths == [1, 2])
    }

    @Test("Foundation objects become the kinds that they were made of")
    func bridging() throws {
        let objects: [String: Any] = ["flag": true, "one": 1, "real": 1.0, "text": "a", "list": [Data([1])]]
        let list = try PropertyList(foundationObject: objects)
        let expected = PropertyList.dictionary([
            "flag": .boolean(true), "one": .integer(1), "real": .real(1), "text": .string("a"),
            "list": .array([.data(Data([1]))]),
        ])
        #expect(list == expected)
        #expect(try PropertyList(foundationObject: list.foundationObject) == expected)
    }

    @Test("An object that no property list holds is named with its place")
    func unknownObject() {
        let error = #expect(throws: PropertyListError.self) {
            try PropertyList(foundationObject: ["user": ["lock": NSLock()]])
        }
        #expect(error?.description.contains("“user.lock”") == true)
    }
}

@Suite("Property lists whose collections are shared")
struct SharedPropertyListTests {
    /// Arrays in a row, each with a hundred references to the next one.
    static func laughing(levels: UInt8) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<levels {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += [0xAF, 0x10, 100] + Array(repeating: level + 1, count: 100)
        }
        offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        bytes += [0x10, 1]
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [Int(levels) + 1, 0, table] { bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 0xFF) } }
        return Data(bytes)
    }

    @Test("become no objects where that takes more values than the file has bytes for", arguments: [3, 4, 10])
    func refused(levels: UInt8) {
        #expect(throws: PropertyListError.self) { try PropertyList.foundationObject(of: Self.laughing(levels: levels)) }
    }

    @Test("become objects where they are few, and so does a large list that shares nothing")
    func few() throws {
        let small = try PropertyList.foundationObject(of: Self.laughing(levels: 2)) as? [[Any]]
        #expect(small?.map(\.count) == Array(repeating: 100, count: 100))
        let large = PropertyList.array((0..<400_000).map { .integer($0 % 100) })
        #expect(try (PropertyList.foundationObject(of: large.binaryData()) as? [Any])?.count == 400_000)
    }

    @Test("are read as Foundation reads them, in XML too; anything else is not a list")
    func kinds() throws {
        let list: [String: Any] = [
            "a": [1, true, 2.5] as [Any], "b": Data([1]), "c": Date(timeIntervalSinceReferenceDate: 7),
        ]
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            let read = try #require(try PropertyList.foundationObject(of: data) as? [String: Any])
            #expect(try PropertyList(foundationObject: read) == PropertyList(foundationObject: list))
        }
        #expect(try PropertyList.foundationObject(of: Data([0, 1, 2])) == nil)
    }
}

@Suite("Damaged binary property lists")
struct DamagedPropertyListTests {
    @Test("Every truncation is an error")
    func truncated() throws {
        let data = try PropertyList.dictionary(["a": .array([.string("b"), .real(1)]), "c": .uid(3)]).binaryData()
        for length in 0..<data.count {
            #expect(throws: PropertyListError.self) { try PropertyList(binary: data.prefix(length)) }
        }
    }

    @Test("Any single changed byte is read as something or refused, and never traps")
    func flippedBytes() throws {
        let data = try PropertyList.dictionary([
            "a": .array([.string("ü"), .real(1), .integer(1 << 40)]), "c": .uid(3), "d": .data(Data(count: 20)),
        ]).binaryData()
        var refused = 0
        for offset in 0..<data.count {
            for value in [0x00, 0x0F, 0x14, 0x1F, 0x33, 0x5F, 0x7F, 0x80, 0xAF, 0xD1, 0xDF, 0xFF] as [UInt8] {
                var damaged = data
                damaged[damaged.startIndex + offset] = value
                do { _ = try PropertyList(binary: damaged) } catch { refused += 1 }
            }
        }
        #expect(refused > 0)
    }

    /// A list of arrays, given as the objects that each refers to, the first of them the root.
    private func arrays(_ references: [[UInt8]]) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for list in references {
            offsets.append(UInt8(bytes.count))
            bytes += [0xA0 | UInt8(list.count)] + list
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [references.count, 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, UInt8(number)] }
        return Data(bytes)
    }

    @Test("A list that contains itself is refused")
    func circle() {
        let error = #expect(throws: PropertyListError.self) { try PropertyList(binary: arrays([[1], [0]])) }
        #expect(error?.reason == "object 0 contains itself")
    }

    @Test("A list that doubles with every level is refused before it fills the memory")
    func exponentialGrowth() {
        let levels = 40
        let objects = (0..<levels).map { level in level + 1 < levels ? [UInt8(level + 1), UInt8(level + 1)] : [] }
        let error = #expect(throws: PropertyListError.self) { try PropertyList(binary: arrays(objects)) }
        #expect(error?.reason == "it holds more than 16000000 values")
    }

    @Test("Many objects in one and the same place are refused before their texts fill the memory")
    func sharedPlace() {
        // The header, a text of nine letters at 8, a list of four objects at 18, and the table.
        var bytes = Array("bplist00".utf8) + [0x59] + Array(repeating: UInt8(0x78), count: 9) + [0xA4, 0, 1, 2, 3]
        let table = UInt8(bytes.count)
        bytes += [8, 8, 8, 8, 18] + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [5, 4, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        #expect(throws: Never.self) { try PropertyList(binary: Data(bytes)) }
        let long = Data(repeating: 0x78, count: 200)
        var many = Data("bplist00".utf8) + [0x5F, 0x10, 200] + long + [0xA4, 0, 1, 2, 3]
        let end = UInt8(many.count)
        many += [8, 8, 8, 8, 211] + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [5, 4, end] { many += [0, 0, 0, 0, 0, 0, 0, number] }
        let error = #expect(throws: PropertyListError.self) { try PropertyList(binary: many) }
        #expect(error?.reason == "its texts and data lie over one another")
    }

    @Test("Deep nesting is refused, from whichever end it is reached")
    func deepNesting() {
        var limits = PropertyListLimits()
        limits.depth = 5
        let down = (0..<8).map { $0 < 7 ? [UInt8($0 + 1)] : [] }
        #expect(throws: PropertyListError.self) { try PropertyList(binary: arrays(down), limits: limits) }
        // The root lists the innermost array first, then one around it, and so on.
        let up = [[1, 2, 3, 4, 5, 6, 7]] + (1...7).map { $0 == 1 ? [] : [UInt8($0 - 1)] }
        let error = #expect(throws: PropertyListError.self) { try PropertyList(binary: arrays(up), limits: limits) }
        #expect(error?.reason == "it nests deeper than 5 levels")
    }
}

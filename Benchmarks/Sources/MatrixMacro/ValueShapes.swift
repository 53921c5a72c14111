import Foundation
import Pippin

// Properties that are more than a number or a text: structs, enumerations, bytes, lists.

struct Address: Codable, Equatable, Sendable {
    var street: String
    var city: String
    var zip: Int
}

struct Size: Codable, Equatable, Sendable {
    var width: Double
    var height: Double
}

#if !BY_CODING
    @CoreModel
#endif
struct Nested: Shape {
    let id: Int64
    var name: String
    var address: Address
    var size: Size?

    static let table = "ZNESTED"
    static let columns = ["ZID", "ZNAME", "ZSTREET", "ZCITY", "ZZIP", "ZWIDTH", "ZHEIGHT"]

    init(number: Int) {
        (id, name) = (Int64(number), Made.title(number))
        address = Address(street: Made.line(number), city: Made.word(number), zip: 10_000 + number % 80_000)
        size = number % 2 == 0 ? Size(width: Double(number) / 4, height: 2.5) : nil
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        name = row.text(first + 1)
        address = Address(street: row.text(first + 2), city: row.text(first + 3), zip: row.int(first + 4))
        size = row.isNull(first + 5) ? nil : Size(width: row.double(first + 5), height: row.double(first + 6))
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(name)
        writer.text(address.street)
        writer.text(address.city)
        writer.int(address.zip)
        writer.real(size?.width)
        writer.real(size?.height)
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { address.zip += 1 }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(name)
        sum.add(address.street)
        sum.add(address.city)
        sum.add(address.zip)
        sum.add(size?.width)
        sum.add(size?.height)
    }
}

enum Color: String, Codable, Sendable, CaseIterable { case red, green, blue, ochre, magenta }
enum Level: Int, Codable, Sendable, CaseIterable { case low, middle, high }

#if !BY_CODING
    @CoreModel
#endif
struct Enumerations: Shape {
    let id: Int64
    var color: Color
    var background: Color?
    var level: Level
    var urgency: Level?
    var name: String

    static let table = "ZENUMERATIONS"
    static let columns = ["ZID", "ZCOLOR", "ZBACKGROUND", "ZLEVEL", "ZURGENCY", "ZNAME"]

    init(number: Int) {
        (id, color, level) = (Int64(number), Color.allCases[number % 5], Level.allCases[number % 3])
        background = number % 2 == 0 ? .blue : nil
        urgency = number % 3 == 0 ? nil : .high
        name = Made.title(number)
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        color = Color(rawValue: row.text(first + 1)) ?? .red
        background = row.isNull(first + 2) ? nil : Color(rawValue: row.text(first + 2))
        level = Level(rawValue: row.int(first + 3)) ?? .low
        urgency = row.isNull(first + 4) ? nil : Level(rawValue: row.int(first + 4))
        name = row.text(first + 5)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(color.rawValue)
        writer.string(background?.rawValue)
        writer.int(level.rawValue)
        writer.int(urgency?.rawValue)
        writer.text(name)
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { level = level == .low ? .high : .low }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(color.rawValue)
        sum.add(background?.rawValue)
        sum.add(level.rawValue)
        sum.add(urgency?.rawValue)
        sum.add(name)
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct Blobs: Shape {
    let id: Int64
    var key: UUID
    var other: UUID?
    var bytes: Data
    var thumbnail: Data?

    static let table = "ZBLOBS"
    static let columns = ["ZID", "ZKEY", "ZOTHER", "ZBYTES", "ZTHUMBNAIL"]

    init(number: Int) {
        (id, key, bytes) = (Int64(number), Made.uuid(number), Data(repeating: UInt8(number % 251), count: 900))
        other = number % 2 == 0 ? nil : Made.uuid(number + 1)
        thumbnail = number % 3 == 0 ? nil : Data(repeating: 7, count: 120)
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        key = row.uuid(first + 1)
        other = row.isNull(first + 2) ? nil : row.uuid(first + 2)
        bytes = row.data(first + 3)
        thumbnail = row.isNull(first + 4) ? nil : row.data(first + 4)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.uuid(key)
        if let other { writer.uuid(other) } else { writer.null() }
        writer.data(bytes)
        if let thumbnail { writer.data(thumbnail) } else { writer.null() }
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { key = Made.uuid(Int(id) + 77) }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(key)
        sum.add(other?.uuid.0 == nil)
        sum.add(bytes)
        sum.add(thumbnail?.count)
    }
}

/// Lists of values are JSON, which a program by hand reads and writes with Foundation's coders.
#if !BY_CODING
    @CoreModel
#endif
struct Lists: Shape {
    let id: Int64
    var name: String
    var tags: [String]
    var numbers: [Int]

    static let table = "ZLISTS"
    static let columns = ["ZID", "ZNAME", "ZTAGS", "ZNUMBERS"]
    static let count = 5_000

    init(number: Int) {
        (id, name) = (Int64(number), Made.title(number))
        tags = (0..<(number % 6)).map { Made.word(number + $0) }
        numbers = (0..<(number % 5)).map { number + $0 }
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        name = row.text(first + 1)
        let decoder = JSONDecoder()
        tags = (try? decoder.decode([String].self, from: row.data(first + 2))) ?? []
        numbers = (try? decoder.decode([Int].self, from: row.data(first + 3))) ?? []
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(name)
        let encoder = JSONEncoder()
        writer.data((try? encoder.encode(tags)) ?? Data())
        writer.data((try? encoder.encode(numbers)) ?? Data())
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { numbers.append(1) }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(name)
        for tag in tags { sum.add(tag) }
        for number in numbers { sum.add(number) }
    }
}

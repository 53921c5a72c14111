import Foundation
import Pippin

// Each model stands once, and is compiled twice: with `@CoreModel`, and with the compiler's own coding (BY_CODING).

#if !BY_CODING
    @CoreModel
#endif
struct Wide: Shape {
    let id: Int64
    var name: String
    var title: String
    var street: String
    var city: String
    var region: String
    var country: String
    var phone: String
    var note: String
    var quantity: Int
    var position: Int
    var stock: Int
    var reserved: Int
    var year: Int
    var price: Double
    var weight: Double
    var height: Double
    var width: Double
    var created: Date
    var updated: Date
    var shipped: Date
    var isNew: Bool
    var isSold: Bool
    var isHidden: Bool

    static let table = "ZWIDE"
    static let columns = [
        "ZID", "ZNAME", "ZTITLE", "ZSTREET", "ZCITY", "ZREGION", "ZCOUNTRY", "ZPHONE", "ZNOTE", "ZQUANTITY",
        "ZPOSITION", "ZSTOCK", "ZRESERVED", "ZYEAR", "ZPRICE", "ZWEIGHT", "ZHEIGHT", "ZWIDTH", "ZCREATED", "ZUPDATED",
        "ZSHIPPED", "ZISNEW", "ZISSOLD", "ZISHIDDEN",
    ]
    static let count = 10_000

    init(number: Int) {
        id = Int64(number)
        (name, title, street, city) = (Made.word(number), Made.title(number), Made.line(number), Made.word(number + 1))
        (region, country, phone) = (Made.word(number + 2), Made.word(number + 3), "+49 241 \(number)")
        (note, quantity, position, stock) = (Made.title(number + 7), number % 60, number, number % 1_000)
        (reserved, year, price, weight) = (
            number % 7, 1_990 + number % 40, Double(number) / 8, Double(number % 100) / 3
        )
        (height, width, created, updated) = (Double(number % 9), 2.5, Made.date(number), Made.date(number + 9))
        (shipped, isNew, isSold, isHidden) = (Made.date(number + 99), number % 2 == 0, number % 3 == 0, false)
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        name = row.text(first + 1)
        title = row.text(first + 2)
        street = row.text(first + 3)
        city = row.text(first + 4)
        region = row.text(first + 5)
        country = row.text(first + 6)
        phone = row.text(first + 7)
        note = row.text(first + 8)
        quantity = row.int(first + 9)
        position = row.int(first + 10)
        stock = row.int(first + 11)
        reserved = row.int(first + 12)
        year = row.int(first + 13)
        price = row.double(first + 14)
        weight = row.double(first + 15)
        height = row.double(first + 16)
        width = row.double(first + 17)
        created = row.date(first + 18)
        updated = row.date(first + 19)
        shipped = row.date(first + 20)
        isNew = row.bool(first + 21)
        isSold = row.bool(first + 22)
        isHidden = row.bool(first + 23)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        for text in [name, title, street, city, region, country, phone, note] { writer.text(text) }
        for number in [quantity, position, stock, reserved, year] { writer.int(number) }
        for number in [price, weight, height, width] { writer.double(number) }
        for date in [created, updated, shipped] { writer.date(date) }
        for flag in [isNew, isSold, isHidden] { writer.bool(flag) }
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { quantity += 1 }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(name)
        sum.add(title)
        sum.add(street)
        sum.add(city)
        sum.add(region)
        sum.add(country)
        sum.add(phone)
        sum.add(note)
        sum.add(quantity + position + stock + reserved + year)
        sum.add(price + weight + height + width)
        sum.add(created)
        sum.add(updated)
        sum.add(shipped)
        sum.add(isNew)
        sum.add(isSold)
        sum.add(isHidden)
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct Numbers: Shape {
    let id: Int64
    var a: Int
    var b: Int64
    var c: Int32
    var d: Int16
    var e: Double
    var f: Double
    var g: Double
    var h: Bool
    var i: Int

    static let table = "ZNUMBERS"
    static let columns = ["ZID", "ZA", "ZB", "ZC", "ZD", "ZE", "ZF", "ZG", "ZH", "ZI"]

    init(number: Int) {
        (id, a, b, c) = (Int64(number), number * 7, Int64(number) << 20, Int32(number % 9_999))
        (d, e, f, g) = (Int16(number % 999), Double(number) / 3, Double(number % 500) / 4, -1 - Double(number))
        (h, i) = (number % 2 == 0, number % 10)
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        a = row.int(first + 1)
        b = row.integer(first + 2)
        c = Int32(row.integer(first + 3))
        d = Int16(row.integer(first + 4))
        e = row.double(first + 5)
        f = row.double(first + 6)
        g = row.double(first + 7)
        h = row.bool(first + 8)
        i = row.int(first + 9)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.int(a)
        writer.integer(b)
        writer.integer(Int64(c))
        writer.integer(Int64(d))
        writer.double(e)
        writer.double(f)
        writer.double(g)
        writer.bool(h)
        writer.int(i)
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { a += 1 }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(a + i)
        sum.add(b)
        sum.add(Int(c))
        sum.add(Int(d))
        sum.add(e + f + g)
        sum.add(h)
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct Texts: Shape {
    let id: Int64
    var color: String
    var code: String
    var title: String
    var address: String
    var summary: String
    var body: String

    static let table = "ZTEXTS"
    static let columns = ["ZID", "ZCOLOR", "ZCODE", "ZTITLE", "ZADDRESS", "ZSUMMARY", "ZBODY"]

    init(number: Int) {
        (id, color, code, title) = (Int64(number), Made.word(number), "C-\(number)", Made.title(number))
        (address, summary, body) = (Made.line(number), Made.title(number + 3), Made.text(number))
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        color = row.text(first + 1)
        code = row.text(first + 2)
        title = row.text(first + 3)
        address = row.text(first + 4)
        summary = row.text(first + 5)
        body = row.text(first + 6)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.text(color)
        writer.text(code)
        writer.text(title)
        writer.text(address)
        writer.text(summary)
        writer.text(body)
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { title += "!" }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(color)
        sum.add(code)
        sum.add(title)
        sum.add(address)
        sum.add(summary)
        sum.add(body)
    }
}

#if !BY_CODING
    @CoreModel
#endif
struct Optionals: Shape {
    let id: Int64
    var name: String?
    var city: String?
    var note: String?
    var count: Int?
    var year: Int?
    var price: Double?
    var weight: Double?
    var created: Date?
    var shipped: Date?
    var isNew: Bool?

    static let table = "ZOPTIONALS"
    static let columns = [
        "ZID", "ZNAME", "ZCITY", "ZNOTE", "ZCOUNT", "ZYEAR", "ZPRICE", "ZWEIGHT", "ZCREATED", "ZSHIPPED", "ZISNEW",
    ]

    init(number: Int) {
        let isThere = number % 2 == 0
        (id, name, city) = (Int64(number), Made.title(number), isThere ? nil : Made.word(number))
        (note, count, year) = (isThere ? Made.line(number) : nil, isThere ? number : nil, isThere ? nil : 2_000)
        (price, weight) = (isThere ? Double(number) / 8 : nil, isThere ? nil : 2.5)
        (created, shipped, isNew) = (Made.date(number), isThere ? Made.date(number) : nil, isThere ? nil : true)
    }

    init<Row: RowReader>(row: Row, at first: Int) {
        id = row.integer(first)
        name = row.optionalText(first + 1)
        city = row.optionalText(first + 2)
        note = row.optionalText(first + 3)
        count = row.optionalInt(first + 4)
        year = row.optionalInt(first + 5)
        price = row.optionalDouble(first + 6)
        weight = row.optionalDouble(first + 7)
        created = row.optionalDate(first + 8)
        shipped = row.optionalDate(first + 9)
        isNew = row.optionalBool(first + 10)
    }

    func bind<Writer: ColumnWriter>(to writer: inout Writer) {
        writer.integer(id)
        writer.string(name)
        writer.string(city)
        writer.string(note)
        writer.int(count)
        writer.int(year)
        writer.real(price)
        writer.real(weight)
        writer.date(created)
        writer.date(shipped)
        writer.bool(isNew)
    }
    static func bind<Writer: ColumnWriter>(id: Int64, to writer: inout Writer) { writer.integer(id) }

    mutating func change() { count = (count ?? 0) + 1 }

    func add(to sum: inout Sum) {
        sum.add(id)
        sum.add(name)
        sum.add(city)
        sum.add(note)
        sum.add(count)
        sum.add(year)
        sum.add(price)
        sum.add(weight)
        sum.add(created)
        sum.add(shipped)
        sum.add(isNew)
    }
}

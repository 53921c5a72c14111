import Pippin

/// An order of the Northwind sample database: the same fourteen columns, with made-up values.
@CoreModel
struct Order: Equatable {
    let id: Int
    var customer: String?
    var employee: Int?
    var orderDate: Date?
    var requiredDate: Date?
    var shippedDate: Date?
    var shipVia: Int?
    var freight: Double?
    var shipName: String?
    var shipAddress: String?
    var shipCity: String?
    var shipRegion: String?
    var shipPostalCode: String?
    var shipCountry: String?

    init(number: Int) {
        let day = Date(timeIntervalSinceReferenceDate: Double(500_000_000 + number * 3_600))
        id = 10_248 + number
        customer = ["ALFKI", "ANATR", "BLAUS", "CHOPS", "ERNSH"][number % 5]
        employee = number % 9 + 1
        orderDate = day
        requiredDate = day + 28 * 86_400
        shippedDate = number % 11 == 0 ? nil : day + 5 * 86_400
        shipVia = number % 3 + 1
        freight = Double(number % 4_000) / 8
        shipName = "The shop at the corner no. \(number % 91)"
        shipAddress = "\(number % 200) Long Street, second floor"
        shipCity = ["Aachen", "Rio de Janeiro", "Reims", "Graz", "Cowes"][number % 5]
        shipRegion = number % 3 == 0 ? "RJ" : nil
        shipPostalCode = "\(10_000 + number % 80_000)"
        shipCountry = ["Germany", "Brazil", "France", "Austria", "UK"][number % 5]
    }

    static func make(_ count: Int) -> [Order] { (0..<count).map(Order.init(number:)) }
}

/// An order with its lines, which belong to it.
@CoreModel
struct OrderWithLines: Equatable {
    let id: Int
    var customer: String?
    var orderDate: Date?
    var freight: Double?
    var lines: [OrderLine]

    static var schema: Schema<OrderWithLines> { Schema(.owns(\.lines), name: "BigOrder") }

    init(number: Int) {
        let order = Order(number: number)
        (id, customer, orderDate, freight) = (order.id, order.customer, order.orderDate, order.freight)
        let first = Self.firstLine(of: number)
        lines = (first..<Self.firstLine(of: number + 1)).map(OrderLine.init(number:))
    }

    init(id: Int, customer: String?, orderDate: Date?, freight: Double?, lines: [OrderLine]) {
        (self.id, self.customer, self.orderDate, self.freight, self.lines) = (id, customer, orderDate, freight, lines)
    }

    /// Some 31 lines each, some more and some fewer.
    private static func firstLine(of number: Int) -> Int { number * 31 - number / 10 + (number % 3) * 2 }

    static func make(_ count: Int) -> [OrderWithLines] { (0..<count).map(OrderWithLines.init(number:)) }
}

/// A line of an order.
@CoreModel
struct OrderLine: Equatable {
    let id: Int
    var product: String
    var unitPrice: Double
    var quantity: Int
    var discount: Double

    init(number: Int) {
        id = number
        product = "Product number \(number % 77)"
        unitPrice = Double(number % 500) / 4
        quantity = number % 60 + 1
        discount = number % 4 == 0 ? 0.25 : 0
    }

    init(id: Int, product: String, unitPrice: Double, quantity: Int, discount: Double) {
        (self.id, self.product, self.unitPrice, self.quantity, self.discount) = (
            id, product, unitPrice, quantity, discount
        )
    }
}

/// A sum over what was read.
struct OrderSum {
    private var total = 0

    mutating func add(_ number: Int) { total &+= number }
    mutating func add(_ text: String?) { total &+= text?.utf8.count ?? 1 }
    mutating func add(_ date: Date?) { total &+= Int(date?.timeIntervalSinceReferenceDate ?? 0) }

    var checksum: Checksum {
        var checksum = Checksum()
        checksum.add(uidBytes: total, titleBytes: 0, count: 0, price: 0, createdAt: 0, isFlagged: false)
        return checksum
    }
}

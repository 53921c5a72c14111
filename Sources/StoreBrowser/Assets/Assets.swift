/// What pages are dressed with. Texts in the program: they are there in static builds, too, and wherever the program is put.
enum Assets {}

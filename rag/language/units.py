"""Units as they are written, and what they are converted to before two quantities are compared."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """`name` as shown, the `base` it is converted to, and how many of those one is."""

    name: str
    base: str
    factor: Decimal


# Base, factor, then the spellings divided by bars, the first of which is the name; plurals of words are added.
_TABLE = """
% 1 %|percent|per cent|per-cent|pct
% 0.1 ‰|per mille
pp 1 pp|p.p.|pps|%p|percentage point|percent point|%-point|% point|point|pts|pt|absolute point|个百分点|百分点
pp 0.01 basis point|bps
× 1 ×|x|X|times|fold|-fold|倍
orders 1 order of magnitude|orders of magnitude|OOMs|OOM|个数量级
s 1e-9 ns|nanosecond
s 1e-6 µs|μs|us|microsecond
s 1e-3 ms|msec|millisecond|毫秒
s 1 s|sec|secs|second|秒
s 60 min|mins|minute|分钟
s 3600 h|hr|hrs|hour|小时
s 86400 day|天
s 604800 week|wks|wk|周
months 1 month|个月
months 12 year|yrs|yr|year old|years old|岁
g 1e-9 ng|nanogram
g 1e-6 µg|μg|ug|mcg|microgram
g 1e-3 mg|milligram|毫克
g 1 g|gram|克
g 1e3 kg|kilogram|公斤|千克
g 1e6 tonne|ton|吨
m 1e-10 Å|angstrom
m 1e-9 nm|nanometre|nanometer
m 1e-6 µm|μm|um|micrometre|micrometer|micron
m 1e-3 mm|millimetre|millimeter|毫米
m 1e-2 cm|centimetre|centimeter|厘米
m 1 m|metre|meter|米
m 1e3 km|kilometre|kilometer|公里
mile 1 mile
L 1e-6 µL|μL|µl|μl|uL
L 1e-3 mL|ml|millilitre|milliliter
L 1e-1 dL|dl
L 1 L|litre|liter
mol 1e-9 nmol
mol 1e-6 µmol|μmol|umol
mol 1e-3 mmol
mol 1 mol|mole
M 1e-9 nM
M 1e-6 µM|μM|uM
M 1e-3 mM
byte 1 byte
byte 1e3 KB|kB|kilobyte
byte 1e6 MB|megabyte
byte 1e9 GB|gigabyte
byte 1e12 TB|terabyte
byte 1e15 PB|petabyte
byte 1024 KiB
byte 1048576 MiB
byte 1073741824 GiB
byte 1099511627776 TiB
bit 1 bit|位
bit/s 1e3 kbps|Kbps
bit/s 1e6 Mbps|Mb/s|Mbit/s
bit/s 1e9 Gbps|Gb/s|Gbit/s
flop 1 FLOPs|FLOP
flop 1e6 MFLOPs|MFLOP
flop 1e9 GFLOPs|GFLOP
flop 1e12 TFLOPs|TFLOP
flop 1e15 PFLOPs|PFLOP
flop 1e18 EFLOPs|EFLOP
mac 1e6 MMACs|MMAC
mac 1e9 GMACs|GMAC
flop/s 1e9 GFLOPS|GFLOP/s
flop/s 1e12 TFLOPS|TFLOP/s
flop/s 1e15 PFLOPS|PFLOP/s
op/s 1e12 TOPS
Hz 1 Hz|hertz
Hz 1e3 kHz|KHz
Hz 1e6 MHz
Hz 1e9 GHz
Hz 1e12 THz
W 1e-6 µW|μW
W 1e-3 mW
W 1 W|watt
W 1e3 kW
W 1e6 MW
W 1e9 GW
V 1e-3 mV
V 1 V|volt
A 1e-3 mA
eV 1e-3 meV
eV 1 eV
eV 1e3 keV
eV 1e6 MeV
eV 1e9 GeV
J 1e-3 mJ
J 1 J|joule
J 1e3 kJ
Wh 1e3 kWh
Wh 1e6 MWh
Pa 1 Pa
Pa 1e3 kPa
Pa 1e6 MPa
Pa 1e9 GPa
cal 1e3 kcal
°C 1 °C|℃|degree Celsius|degrees Celsius|degree celsius|degrees celsius|摄氏度
°F 1 °F|℉|degree Fahrenheit|degrees Fahrenheit|degree fahrenheit
° 1 °|degree
p 1 p
px 1 px|pixel
frame/s 1 fps|FPS|frames per second|frames/s
token/s 1 token/s|tokens/s|tok/s|tokens per second|tokens/sec
epoch 1 epoch
m² 1 m²|m^2
cm² 1 cm²|cm^2
km² 1 km²|km^2
cm³ 1 cm³|cm^3
kg/m² 1 kg/m²|kg/m^2
GPU-h 1 GPU hour|GPU-hour|A100 hour|H100 hour|TPU hour
GPU-h 24 GPU day|GPU-day|A100 day|H100 day|TPU day
$ 1 $|dollar|USD|US dollar|美元
$ 0.01 cent
€ 1 €|EUR|euro|欧元
£ 1 £|GBP
¥ 1 ¥|CNY|RMB|yuan|元
JPY 1 yen|JPY
₹ 1 ₹|INR|rupee
"""
_ALONE = (
    "dB|bpm|rpm|ppm|ppb|mmHg|Gy|IU|mg/dL|mg/L|mg/kg|g/L|m/s|km/h|mmol/L|kcal/mol|µg/mL|ng/mL|mg/mL|Nm|bp|kbp|QPS|"
    "MB/s|GB/s|TB/s"
)


def _spellings() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    rows = [*_TABLE.strip().splitlines(), *(f"{name} 1 {name}" for name in _ALONE.split("|"))]
    for base, factor, written in (row.split(" ", 2) for row in rows):
        names = written.split("|")
        unit = Unit(names[0], base, Decimal(factor))
        for name in names:
            found[name] = unit
            if re.search(r"[a-z]{3}$", name) and not name.endswith("s") and len(name) > 2:
                found[f"{name}s"] = unit
    return found


UNITS = _spellings()
CURRENCIES = {"US$": "$", "A$": "A$", "C$": "C$", "HK$": "HK$", "S$": "S$", "$": "$", "€": "€", "£": "£", "¥": "¥",
              "₹": "₹", "₩": "₩", "USD": "$", "EUR": "€", "GBP": "£"}  # fmt: skip
# As a regular expression, the longest spelling first.
UNIT = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True) if name not in "$€£¥₹₩")
CURRENCY = "|".join(re.escape(name) for name in sorted(CURRENCIES, key=len, reverse=True))


def base_of(name: str) -> tuple[str, Decimal]:
    """Base and factor of the unit `name`; a name that is not known is its own base."""
    unit = UNITS.get(name)
    return (unit.base, unit.factor) if unit else (name, Decimal(1))
